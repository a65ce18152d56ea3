-- Creates another role with which the service logs in, for a change of the password without a failed request. It acts as `dure`, which
-- owns everything. DURE_ROLE and DURE_PASSWORD are in the environment. See docs/operations/README.md#rotate-a-password.
\set ON_ERROR_STOP on
\getenv role DURE_ROLE
\getenv password DURE_PASSWORD
CREATE ROLE :"role" LOGIN IN ROLE dure PASSWORD :'password';
ALTER ROLE :"role" SET role = dure;
