#!/bin/sh
# restore.sh <backup>: restores a folder that backup.sh wrote, into a new database `dure` and into $DATA_DIR/media. What was there is
# kept beside it, with the time in its name. Stop the service and the pooler before: it does not run while anything is connected.
#
# PGHOST, PGPORT, PGUSER and PGPASSWORD are those of the superuser; DURE_PASSWORD is that of the role of the service.
set -eu
scripts=$(cd "$(dirname "$0")" && pwd)
backup=$1
stamp=$(date -u +%Y%m%d%H%M%S)
psql() { command psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 "$@"; }

# Unreadable backups are found before anything changes.
pg_restore --file=/dev/null "$backup/database.dump"
psql --dbname=postgres --set stamp="$stamp" <<'SQL'
SELECT format('ALTER DATABASE dure RENAME TO %I', 'dure_before_' || :'stamp') FROM pg_database WHERE datname = 'dure' \gexec
CREATE DATABASE dure OWNER dure;
REVOKE ALL ON DATABASE dure FROM PUBLIC;
SQL

# As the role of the service, which then owns everything.
export PGUSER=dure PGPASSWORD="$DURE_PASSWORD" PGDATABASE=dure
# Memory for the indexes of the search, which take most of the time.
PGOPTIONS='-c maintenance_work_mem=256MB' pg_restore --exit-on-error --single-transaction --no-owner --no-privileges --dbname=dure "$backup/database.dump"
# What its statements return says nothing.
psql --single-transaction --file="$scripts/after-restore.sql" >/dev/null
# It warns of each catalogue, which is not the role's own.
psql --command='SET client_min_messages = error' --command='ANALYZE'

if [ -d "$backup/media" ]; then
  if [ -d "${DATA_DIR:?}/media" ]; then mv "$DATA_DIR/media" "$DATA_DIR/media_before_$stamp"; fi
  cp -Rp "$backup/media" "$DATA_DIR/"
fi
echo "restored $backup"
