#!/bin/sh
# backup.sh <folder>: writes a backup of the database and of the images on the disk to a new folder in it, and prints its name.
# The service keeps running. The database is that of PGHOST, PGPORT, PGUSER, PGPASSWORD and PGDATABASE; images are in
# $DATA_DIR/media, unless they are in S3.
set -eu
umask 077
backup=$1/$(date -u +%Y-%m-%dT%H-%M-%SZ)
unfinished=$backup.part
mkdir -p "$unfinished"

# Adds the images that the copy does not have. A file never changes; one that the clean-up deletes meanwhile makes cp fail.
copy_images() {
  [ -d "${DATA_DIR:?}/media" ] || return 0
  for _ in 1 2 3; do
    if cp -Rpn "$DATA_DIR/media" "$unfinished/"; then return 0; fi
  done
  return 1
}

# Before the database, for images that are deleted while it is dumped; and after it, for those that were uploaded since.
copy_images
# The schemas of the service and its queue: extensions and schemas of others belong to the server, and only a superuser restores them.
pg_dump --schema=public --schema=graphile_worker --format=custom --no-owner --no-privileges --file="$unfinished/database.dump"
copy_images
mv "$unfinished" "$backup"
echo "$backup"
