#!/bin/sh
# Take what another clone on this machine left, or leave it for the next: files in the user's cache folder.
# Where none can be taken or left, work is done again. What nobody took for 30 days goes.
# Usage: reuse.sh take|leave NAME [PATH...]
set -eu

folder=${XDG_CACHE_HOME:-${HOME:-}/.cache}/wattlas/clones
left=$folder/$2.tar
{
    if [ "$1" = take ]; then
        part=.reuse.$$
        # Each file at once, as a whole.
        mkdir "$part" && tar -xf "$left" -C "$part" && cp -Rl "$part/." . && touch "$left" || true
        rm -rf "$part"
    else
        shift 2
        mkdir -p "$folder" && tar -cf "$left.$$" "$@" && mv "$left.$$" "$left" || rm -f "$left.$$"
        find "$folder" -type f -mtime +30 -exec rm {} +
    fi
} 2>/dev/null || true
