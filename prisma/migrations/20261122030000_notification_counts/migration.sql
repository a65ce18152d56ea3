-- CreateTable
CREATE TABLE "notification_counts" (
    "user_id" INTEGER NOT NULL,
    "unread" INTEGER NOT NULL,

    CONSTRAINT "notification_counts_pkey" PRIMARY KEY ("user_id")
);

-- A page keeps room for new versions of its rows, so that a change of a count touches no index.
ALTER TABLE "notification_counts" SET (fillfactor = 50);

ALTER TABLE "notification_counts" ADD CONSTRAINT "notification_counts_unread_check" CHECK ("unread" >= 0);

-- The next migration, which locks the notifications, updates these rows. Inserting them there would check the foreign key,
-- and wait for the deletion of an account that waits for the notifications.
LOCK TABLE "users" IN SHARE ROW EXCLUSIVE MODE;
INSERT INTO "notification_counts" ("user_id", "unread") SELECT "id", 0 FROM "users";

-- AddForeignKey
ALTER TABLE "notification_counts" ADD CONSTRAINT "notification_counts_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
