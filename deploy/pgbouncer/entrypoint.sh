#!/bin/sh
# Writes the password of the service, in memory, where PgBouncer reads it, and starts PgBouncer. SCRAM needs the password itself:
# a client proves that it knows it, and PgBouncer proves the same to PostgreSQL.
set -eu
umask 077
quoted=$(printf '%s' "$DURE_PASSWORD" | sed 's/"/""/g')
printf '"dure" "%s"\n' "$quoted" >/run/pgbouncer/users.txt
unset DURE_PASSWORD quoted
exec pgbouncer /etc/pgbouncer/pgbouncer.ini
