#!/bin/sh
# The administration command in the image, with the environment of the service: docker compose exec dure-1 dure --help
exec /app/entrypoint.sh node --enable-source-maps /app/dist/cli.js "$@"
