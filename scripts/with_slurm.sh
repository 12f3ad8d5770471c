#!/bin/sh
# Run a command on a machine that is a SLURM cluster of one node for as long as it takes. As root.
#   with_slurm.sh FOLDER COMMAND...
# FOLDER gets the state and logs of the daemons. Nobody has to prove who he is there, so the daemons
# get a network of their own, which nothing outside reaches. All processes end with the command.
set -eu

folder=$1
if [ "${WITH_SLURM:-}" != inside ]; then
    mkdir -p "$folder"
    WITH_SLURM=inside exec unshare --net --pid --fork --kill-child --mount-proc sh "$0" "$@"
fi
shift

address=10.99.0.1
host=$(hostname)
ip link set lo up
# SLURM does not take 127.0.0.1 for the address of a node.
ip addr add $address/32 dev lo
mkdir -p "$folder/state" "$folder/spool"
export SLURM_CONF="$folder/slurm.conf"
cat >"$SLURM_CONF" <<EOF
ClusterName=test
SlurmctldHost=$host($address)
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
NodeName=$host NodeAddr=$address CPUs=2 RealMemory=1000 State=UNKNOWN
PartitionName=test Nodes=ALL Default=YES MaxTime=INFINITE State=UP
EOF
PATH=$PATH:/usr/sbin
slurmctld -c
slurmd -c
waited=0
until sinfo --noheader --format=%T 2>/dev/null | grep -q idle; do
    waited=$((waited + 1))
    if [ $waited -gt 150 ]; then
        echo "SLURM does not start:" >&2
        tail -n 20 "$folder/slurmctld.log" "$folder/slurmd.log" >&2
        exit 1
    fi
    sleep 0.2
done
exec "$@"
