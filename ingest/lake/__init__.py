"""The lake that ingest writes: big files, commits, state and maintenance."""
