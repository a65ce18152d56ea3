#!/bin/sh
# Creates the role and the database of the service. The image of PostgreSQL runs this file once, when its volume is empty, as
# the superuser, whom the service does not need. The role owns its database and has no other right.
set -eu
# By default every role may connect to every database.
psql --no-psqlrc --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "${POSTGRES_DB:-$POSTGRES_USER}" <<'SQL'
\getenv password DURE_PASSWORD
CREATE ROLE dure LOGIN PASSWORD :'password';
CREATE DATABASE dure OWNER dure;
REVOKE ALL ON DATABASE dure, postgres, template1 FROM PUBLIC;
SQL
