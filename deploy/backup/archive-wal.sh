#!/bin/sh
# archive-wal.sh <path> <name>: PostgreSQL's archive_command. Keeps a segment of the WAL, compressed, in $WAL_ARCHIVE/wal. A segment is
# there as a whole or not at all; PostgreSQL tries again what fails.
set -eu
umask 077
archived=${WAL_ARCHIVE:?}/wal/$2.gz
mkdir -p "$WAL_ARCHIVE/wal"
# After a crash PostgreSQL may archive the same segment again; another one of that name is that of another server.
if [ -e "$archived" ]; then gunzip -c "$archived" | cmp -s - "$1"; exit; fi
gzip -c "$1" >"$archived.part"
sync "$archived.part"
mv "$archived.part" "$archived"
