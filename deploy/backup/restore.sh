#!/bin/sh
# restore.sh <backup>: restores a folder that backup.sh wrote, into a new database `dure` and into $DATA_DIR/media. What was there is
# kept beside it, with the time in its name, and is back in its place when anything fails. Stop the service and the pooler before: it
# does not run while anything is connected.
#
# PGHOST, PGPORT, PGUSER and PGPASSWORD are those of the superuser; DURE_PASSWORD is that of the role of the service,
# which is `dure` unless DURE_ROLE names another one.
set -eu
scripts=$(cd "$(dirname "$0")" && pwd)
backup=$1
stamp=$(date -u +%Y%m%d%H%M%S)
psql() { command psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --set stamp="$stamp" "$@"; }
as_service() { PGUSER="${DURE_ROLE:-dure}" PGPASSWORD="$DURE_PASSWORD" PGDATABASE=dure "$@"; }

# Unreadable backups are found before anything changes.
pg_restore --file=/dev/null "$backup/database.dump"
created=
put_back() {
  trap - EXIT
  echo "not restored: the database and the images of before are in their place" >&2
  psql --dbname=postgres --set created="$created" <<'SQL'
SELECT 'DROP DATABASE dure WITH (FORCE)' FROM pg_database
WHERE datname = 'dure' AND (:'created' = 'yes' OR EXISTS (SELECT FROM pg_database WHERE datname = 'dure_before_' || :'stamp')) \gexec
SELECT format('ALTER DATABASE %I RENAME TO dure', datname) FROM pg_database WHERE datname = 'dure_before_' || :'stamp' \gexec
SQL
  rm -rf "${DATA_DIR:?}/media.part"
  if [ -d "$DATA_DIR/media_before_$stamp" ] && [ ! -d "$DATA_DIR/media" ]; then mv "$DATA_DIR/media_before_$stamp" "$DATA_DIR/media"; fi
  exit 1
}
trap put_back EXIT
trap 'exit 1' HUP INT TERM

psql --dbname=postgres <<'SQL'
SELECT format('ALTER DATABASE dure RENAME TO %I', 'dure_before_' || :'stamp') FROM pg_database WHERE datname = 'dure' \gexec
SQL
created=yes
# The dump creates the schema, which then belongs to the role of the service like everything in it.
psql --dbname=postgres <<'SQL'
CREATE DATABASE dure OWNER dure;
REVOKE ALL ON DATABASE dure FROM PUBLIC;
\connect dure
DROP SCHEMA public;
SQL
# Memory for the indexes of the search, which take most of the time.
PGOPTIONS='-c maintenance_work_mem=256MB' as_service pg_restore --exit-on-error --single-transaction --no-owner --no-privileges --dbname=dure "$backup/database.dump"
# What its statements return says nothing.
as_service psql --single-transaction --file="$scripts/after-restore.sql" >/dev/null
# It warns of each catalogue, which is not the role's own.
as_service psql --command='SET client_min_messages = error' --command='ANALYZE'

if [ -d "$backup/media" ]; then
  rm -rf "${DATA_DIR:?}/media.part"
  cp -Rp "$backup/media" "$DATA_DIR/media.part"
  if [ -d "$DATA_DIR/media" ]; then mv "$DATA_DIR/media" "$DATA_DIR/media_before_$stamp"; fi
  mv "$DATA_DIR/media.part" "$DATA_DIR/media"
fi
trap - EXIT
echo "restored $backup"
