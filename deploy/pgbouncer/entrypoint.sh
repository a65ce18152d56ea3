#!/bin/sh
# Writes the password of the service, in memory, where PgBouncer reads it, and starts PgBouncer. SCRAM needs the password itself:
# a client proves that it knows it, and PgBouncer proves the same to PostgreSQL. `entrypoint.sh add` adds a role to a pooler that runs.
set -eu
umask 077
quoted=$(printf '%s' "$DURE_PASSWORD" | sed 's/"/""/g')
users=${USERS_FILE:-/run/pgbouncer/users.txt}
if [ "${1:-}" = add ]; then
  printf '"%s" "%s"\n' "$DURE_ROLE" "$quoted" >>"$users"
  kill -HUP "${POOLER_PID:-1}"
  exit
fi
printf '"%s" "%s"\n' "$DURE_ROLE" "$quoted" >"$users"
[ -z "${STATS_PASSWORD:-}" ] || printf '"stats" "%s"\n' "$STATS_PASSWORD" >>"$users"
unset DURE_PASSWORD STATS_PASSWORD quoted
exec pgbouncer "${PGBOUNCER_FILE:-/etc/pgbouncer/pgbouncer.ini}"
