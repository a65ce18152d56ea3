#!/bin/sh
# Writes .env for compose.yaml: .env.example with the version of this clone and random secrets. An existing file is kept.
set -eu
cd "$(dirname "$0")/.."
umask 077
# `set -C` lets the redirection fail where the file exists.
set -C
while IFS= read -r line; do
  case $line in
    DURE_VERSION=) printf 'DURE_VERSION=%s\n' "$(sed -n 's/^  "version": "\(.*\)",$/\1/p' package.json)" ;;
    JWT_SECRET= | *_PASSWORD=) printf '%s%s\n' "$line" "$(openssl rand -hex 32)" ;;
    VAPID_PRIVATE_KEY=) printf '%s%s\n' "$line" "$(openssl rand -base64 32 | tr '+/' '-_' | tr -d '=')" ;;
    *) printf '%s\n' "$line" ;;
  esac
done <.env.example >.env
echo "wrote .env: now set PUBLIC_URL, FRONTEND_URL, CORS_ORIGINS, RESEND_API_KEY and MAIL_FROM in it"
