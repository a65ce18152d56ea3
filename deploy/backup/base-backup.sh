#!/bin/sh
# base-backup.sh: copies the files of the running server to a new folder in $WAL_ARCHIVE/base, and prints its name, which is the first
# time that can be restored from it. PGHOST, PGPORT, PGUSER and PGPASSWORD are those of a role with REPLICATION.
set -eu
umask 077
unfinished=${WAL_ARCHIVE:?}/base/$(date -u +%Y-%m-%dT%H-%M-%SZ).part
mkdir -p "$WAL_ARCHIVE/base"
pg_basebackup --pgdata="$unfinished" --checkpoint=fast --wal-method=stream
# The next second: the name has no fractions.
sleep 1
backup=$WAL_ARCHIVE/base/$(date -u +%Y-%m-%dT%H-%M-%SZ)
mv "$unfinished" "$backup"
echo "$backup"
