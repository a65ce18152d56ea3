#!/bin/sh
# Adds workers to the coordinator of a Citus cluster: deploy/citus/add-workers.sh HOST:PORT...
# PGHOST, PGPORT, PGUSER and PGPASSWORD are those of the coordinator, as a superuser, and DURE_PASSWORD is that of the role of the
# service, both of letters, digits and `-_.` only. All servers have the same passwords, the settings of citus.conf, and role and database of ../postgres/create-role.sh.
set -eu
export PGDATABASE="${PGDATABASE:-dure}"
run() { psql --no-psqlrc --quiet --tuples-only --set ON_ERROR_STOP=1 "$@" >/dev/null; }
for server in "$PGHOST:$PGPORT" "$@"; do
  # How servers log in to each other. They use TLS, for which the extension makes a certificate where there is none.
  run --host "${server%:*}" --port "${server##*:}" <<'SQL'
\getenv user PGUSER
\getenv password PGPASSWORD
\getenv role_password DURE_PASSWORD
CREATE EXTENSION IF NOT EXISTS citus;
INSERT INTO pg_dist_authinfo VALUES (0, :'user', 'password=' || :'password'), (0, 'dure', 'password=' || :'role_password')
ON CONFLICT (nodeid, rolename) DO UPDATE SET authinfo = excluded.authinfo;
SQL
done
run --command "SELECT citus_set_coordinator_host('$PGHOST', $PGPORT)"
for server in "$@"; do
  run --command "SELECT citus_add_node('${server%:*}', ${server##*:})"
done
