#!/bin/sh
# restore-to-time.sh <time> <new data directory>: prepares a data directory whose server, when it is started, has everything that was
# committed until the time, such as '2026-11-22 18:29:00+00', and then accepts writes. It takes the newest base backup of
# $WAL_ARCHIVE/base before the time, and reads $WAL_ARCHIVE/wal while it starts.
#
# Run it as the user of PostgreSQL. docs/operations/backup.md has what to run before the service is started.
set -eu
umask 077
stamp=$(date -u -d "$1" +%Y-%m-%dT%H-%M-%SZ)
backup=
for folder in "${WAL_ARCHIVE:?}"/base/*Z; do
  # The names are in the order of time.
  [ "$(printf '%s\n%s\n' "${folder##*/}" "$stamp" | sort | head -n 1)" = "${folder##*/}" ] && backup=$folder
done
if [ -z "$backup" ]; then echo "no base backup is older than $1" >&2; exit 1; fi
if [ -e "$2" ]; then echo "$2 exists" >&2; exit 1; fi
cp -Rp "$backup" "$2"
cat >>"$2/postgresql.auto.conf" <<EOF
restore_command = 'gunzip -c "$WAL_ARCHIVE/wal/%f.gz" > "%p"'
recovery_target_time = '$1'
recovery_target_action = promote
EOF
touch "$2/recovery.signal"
echo "prepared $2 from $backup"
