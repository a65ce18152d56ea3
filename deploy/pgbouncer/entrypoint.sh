#!/bin/sh
# Writes the password of the service where PgBouncer reads it, and starts PgBouncer. SCRAM needs the password itself: a client proves
# that it knows it, and PgBouncer proves the same to PostgreSQL. `entrypoint.sh add` adds a role to a pooler that runs; it is still
# there after a restart, whose environment may be older.
set -eu
umask 077
users=${USERS_FILE:-/run/pgbouncer/users.txt}
set_password() {
  touch "$users"
  grep -v "^\"$1\" " "$users" >"$users.part" || true
  printf '"%s" "%s"\n' "$1" "$(printf '%s' "$2" | sed 's/"/""/g')" >>"$users.part"
  mv "$users.part" "$users"
}
set_password "$DURE_ROLE" "$DURE_PASSWORD"
if [ "${1:-}" = add ]; then kill -HUP "${POOLER_PID:-1}"; exit; fi
if [ -n "${STATS_PASSWORD:-}" ]; then set_password stats "$STATS_PASSWORD"; fi
unset DURE_PASSWORD STATS_PASSWORD
exec pgbouncer "${PGBOUNCER_FILE:-/etc/pgbouncer/pgbouncer.ini}"
