-- CreateSchema
CREATE SCHEMA IF NOT EXISTS "public";

-- CreateEnum
CREATE TYPE "role" AS ENUM ('user', 'admin');

-- CreateEnum
CREATE TYPE "language" AS ENUM ('ko', 'en');

-- CreateEnum
CREATE TYPE "mail_purpose" AS ENUM ('email_verify', 'reset_password', 'find_id', 'partner_request', 'notice', 'email_change', 'saved_search_match');

-- CreateEnum
CREATE TYPE "mail_topic" AS ENUM ('partner_request_received', 'partner_request_answered', 'partner_request_ended', 'saved_search_match');

-- CreateEnum
CREATE TYPE "consent_kind" AS ENUM ('terms', 'privacy', 'marketing', 'age');

-- CreateEnum
CREATE TYPE "consent_action" AS ENUM ('given', 'withdrawn', 'asked');

-- CreateEnum
CREATE TYPE "login_flow_kind" AS ENUM ('provider', 'sign_up', 'link', 'second_factor', 'passkey_login', 'passkey_registration');

-- CreateEnum
CREATE TYPE "partner_request_status" AS ENUM ('requested', 'accepted', 'declined', 'withdrawn', 'ended');

-- CreateEnum
CREATE TYPE "notification_kind" AS ENUM ('partner_request_received', 'partner_request_accepted', 'partner_request_declined', 'partner_request_withdrawn', 'partner_request_ended', 'saved_search_match', 'saved_search_digest');

-- CreateEnum
CREATE TYPE "image_state" AS ENUM ('pending', 'ready', 'deleted');

-- CreateEnum
CREATE TYPE "report_reason" AS ENUM ('spam', 'fraud', 'abuse', 'other');

-- CreateEnum
CREATE TYPE "report_action" AS ENUM ('none', 'hide');

-- CreateTable
CREATE TABLE "users" (
    "id" SERIAL NOT NULL,
    "username" VARCHAR(30) NOT NULL,
    "email" VARCHAR(254) NOT NULL,
    "name" VARCHAR(50) NOT NULL,
    "password_hash" TEXT,
    "role" "role" NOT NULL DEFAULT 'user',
    "language" "language" NOT NULL DEFAULT 'ko',
    "has_chosen_language" BOOLEAN NOT NULL DEFAULT false,
    "muted_mails" "mail_topic"[] DEFAULT ARRAY['saved_search_match']::"mail_topic"[],
    "muted_pushes" "mail_topic"[] DEFAULT ARRAY[]::"mail_topic"[],
    "quiet_from" VARCHAR(5),
    "quiet_to" VARCHAR(5),
    "is_verified" BOOLEAN NOT NULL DEFAULT false,
    "suspended_at" TIMESTAMPTZ(3),
    "suspended_reason" VARCHAR(1000),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_login_at" TIMESTAMPTZ(3),
    "needs_reset" BOOLEAN NOT NULL DEFAULT false,
    "marketing_asked_at" TIMESTAMPTZ(3),

    CONSTRAINT "users_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "consents" (
    "id" BIGSERIAL NOT NULL,
    "user_id" INTEGER NOT NULL,
    "kind" "consent_kind" NOT NULL,
    "action" "consent_action" NOT NULL,
    "version" VARCHAR(10),
    "address" VARCHAR(45),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "consents_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "sessions" (
    "id" UUID NOT NULL,
    "user_id" INTEGER NOT NULL,
    "refresh_count" INTEGER NOT NULL DEFAULT 0,
    "rotated_at" TIMESTAMPTZ(3)[],
    "user_agent" VARCHAR(400) NOT NULL,
    "ip" VARCHAR(45) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_used_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "confirmed_at" TIMESTAMPTZ(3),
    "methods" TEXT[] DEFAULT ARRAY['password']::TEXT[],

    CONSTRAINT "sessions_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "login_flows" (
    "id" UUID NOT NULL,
    "kind" "login_flow_kind" NOT NULL,
    "user_id" INTEGER,
    "session_id" UUID,
    "data" JSONB NOT NULL DEFAULT '{}',
    "attempts" SMALLINT NOT NULL DEFAULT 0,
    "key_id" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "login_flows_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "identities" (
    "id" SERIAL NOT NULL,
    "user_id" INTEGER NOT NULL,
    "provider" VARCHAR(30) NOT NULL,
    "issuer" VARCHAR(255) NOT NULL,
    "subject" VARCHAR(255) NOT NULL,
    "email" VARCHAR(254),
    "token" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_used_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "identities_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "passkeys" (
    "id" SERIAL NOT NULL,
    "user_id" INTEGER NOT NULL,
    "credential_id" VARCHAR(1400) NOT NULL,
    "public_key" BYTEA NOT NULL,
    "counter" BIGINT NOT NULL,
    "transports" TEXT[],
    "name" VARCHAR(50) NOT NULL,
    "is_synced" BOOLEAN NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_used_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "passkeys_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "second_factors" (
    "user_id" INTEGER NOT NULL,
    "secret" TEXT NOT NULL,
    "confirmed_at" TIMESTAMPTZ(3),
    "used_steps" INTEGER[] DEFAULT ARRAY[]::INTEGER[],

    CONSTRAINT "second_factors_pkey" PRIMARY KEY ("user_id")
);

-- CreateTable
CREATE TABLE "recovery_codes" (
    "user_id" INTEGER NOT NULL,
    "hash" VARCHAR(64) NOT NULL,

    CONSTRAINT "recovery_codes_pkey" PRIMARY KEY ("user_id","hash")
);

-- CreateTable
CREATE TABLE "email_codes" (
    "email" VARCHAR(254) NOT NULL,
    "id" UUID NOT NULL,
    "key_id" TEXT NOT NULL,
    "attempts" SMALLINT NOT NULL DEFAULT 0,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "email_codes_pkey" PRIMARY KEY ("email")
);

-- CreateTable
CREATE TABLE "email_proofs" (
    "id" UUID NOT NULL,
    "email" VARCHAR(254) NOT NULL,
    "key_id" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "email_proofs_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "password_resets" (
    "email" VARCHAR(254) NOT NULL,
    "id" UUID NOT NULL,
    "key_id" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "password_resets_pkey" PRIMARY KEY ("email")
);

-- CreateTable
CREATE TABLE "email_changes" (
    "id" UUID NOT NULL,
    "user_id" INTEGER NOT NULL,
    "old_email" VARCHAR(254) NOT NULL,
    "new_email" VARCHAR(254) NOT NULL,
    "key_id" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "email_changes_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "mail_sends" (
    "purpose" "mail_purpose" NOT NULL,
    "email" VARCHAR(254) NOT NULL,
    "sent_at" TIMESTAMPTZ(3)[],
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "mail_sends_pkey" PRIMARY KEY ("purpose","email")
);

-- CreateTable
CREATE TABLE "login_failures" (
    "key" VARCHAR(64) NOT NULL,
    "failed_at" TIMESTAMPTZ(3)[],
    "delay_seconds" INTEGER NOT NULL DEFAULT 0,
    "locked_until" TIMESTAMPTZ(3),
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "login_failures_pkey" PRIMARY KEY ("key")
);

-- CreateTable
CREATE TABLE "known_addresses" (
    "user_id" INTEGER NOT NULL,
    "address" VARCHAR(45) NOT NULL,
    "last_used_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "known_addresses_pkey" PRIMARY KEY ("user_id","address")
);

-- CreateTable
CREATE TABLE "idempotency_keys" (
    "scope" VARCHAR(100) COLLATE "C" NOT NULL,
    "key" VARCHAR(255) NOT NULL,
    "request_hash" TEXT NOT NULL,
    "body" JSONB,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("scope","key")
);

-- CreateTable
CREATE TABLE "outbox" (
    "id" BIGSERIAL NOT NULL,
    "user_id" INTEGER,
    "mail" JSONB,
    "notification_id" BIGINT,
    "job" JSONB,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "outbox_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "failed_mails" (
    "id" BIGSERIAL NOT NULL,
    "user_id" INTEGER,
    "kind" VARCHAR(50) NOT NULL,
    "payload" JSONB NOT NULL,
    "reason" TEXT NOT NULL,
    "attempts" SMALLINT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "failed_mails_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "stores" (
    "id" SERIAL NOT NULL,
    "owner_id" INTEGER,
    "name" VARCHAR(50) NOT NULL,
    "description" VARCHAR(2000) NOT NULL DEFAULT '',
    "address" VARCHAR(200) NOT NULL DEFAULT '',
    "phone_number" VARCHAR(30) NOT NULL DEFAULT '',
    "business_hours" VARCHAR(100) NOT NULL DEFAULT '',
    "sido" VARCHAR(20),
    "sigungu" VARCHAR(40) NOT NULL DEFAULT '',
    "dong" VARCHAR(40) NOT NULL DEFAULT '',
    "region_keys" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "latitude" DOUBLE PRECISION,
    "longitude" DOUBLE PRECISION,
    "show_exact_location" BOOLEAN NOT NULL DEFAULT false,
    "search_text" TEXT NOT NULL DEFAULT '',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "closed_at" TIMESTAMPTZ(3),
    "suspended_at" TIMESTAMPTZ(3),
    "hidden_at" TIMESTAMPTZ(3),

    CONSTRAINT "stores_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "saved_searches" (
    "id" SERIAL NOT NULL,
    "user_id" INTEGER NOT NULL,
    "name" VARCHAR(50) NOT NULL,
    "q" VARCHAR(100),
    "category_id" INTEGER,
    "region" VARCHAR(40),
    "near" VARCHAR(50),
    "latitude" DOUBLE PRECISION,
    "longitude" DOUBLE PRECISION,
    "radius_m" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "saved_searches_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "post_alerts" (
    "post_id" BIGINT NOT NULL,
    "after_user_id" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "post_alerts_pkey" PRIMARY KEY ("post_id")
);

-- CreateTable
CREATE TABLE "daily_counts" (
    "kind" VARCHAR(10) NOT NULL,
    "owner_id" INTEGER NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "count" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "daily_counts_pkey" PRIMARY KEY ("kind","owner_id")
);

-- CreateTable
CREATE TABLE "store_categories" (
    "id" SERIAL NOT NULL,
    "name" VARCHAR(20) NOT NULL,
    "name_en" VARCHAR(30) NOT NULL DEFAULT '',
    "list_order" SMALLINT NOT NULL DEFAULT 0,

    CONSTRAINT "store_categories_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "store_category_links" (
    "store_id" INTEGER NOT NULL,
    "category_id" INTEGER NOT NULL,
    "position" SMALLINT NOT NULL,

    CONSTRAINT "store_category_links_pkey" PRIMARY KEY ("store_id","category_id")
);

-- CreateTable
CREATE TABLE "posts" (
    "id" BIGSERIAL NOT NULL,
    "store_id" INTEGER NOT NULL,
    "title" VARCHAR(100) NOT NULL,
    "content" VARCHAR(5000) NOT NULL,
    "images" TEXT[],
    "search_text" TEXT NOT NULL DEFAULT '',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    "hidden_at" TIMESTAMPTZ(3),
    "closes_on" DATE,
    "closed_at" TIMESTAMPTZ(3),
    "is_visible" BOOLEAN NOT NULL GENERATED ALWAYS AS ("deleted_at" IS NULL AND "hidden_at" IS NULL) STORED,

    CONSTRAINT "posts_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "images" (
    "id" BIGSERIAL NOT NULL,
    "user_id" INTEGER,
    "key" VARCHAR(33) NOT NULL,
    "state" "image_state" NOT NULL DEFAULT 'pending',
    "width" SMALLINT NOT NULL DEFAULT 0,
    "height" SMALLINT NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "check_after" TIMESTAMPTZ(3),

    CONSTRAINT "images_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "post_images" (
    "post_id" BIGINT NOT NULL,
    "image_id" BIGINT NOT NULL,
    "image_state" "image_state" NOT NULL DEFAULT 'ready',

    CONSTRAINT "post_images_pkey" PRIMARY KEY ("post_id","image_id")
);

-- CreateTable
CREATE TABLE "partner_requests" (
    "id" BIGSERIAL NOT NULL,
    "post_id" BIGINT NOT NULL,
    "sender_store_id" INTEGER NOT NULL,
    "receiver_store_id" INTEGER NOT NULL,
    "status" "partner_request_status" NOT NULL DEFAULT 'requested',
    "message" VARCHAR(1000) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "partner_requests_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "notification_counts" (
    "user_id" INTEGER NOT NULL,
    "unread" INTEGER NOT NULL,
    "match_day" DATE,
    "matches" INTEGER NOT NULL DEFAULT 0,
    "waiting_matches" INTEGER NOT NULL DEFAULT 0,
    "digest_day" DATE,

    CONSTRAINT "notification_counts_pkey" PRIMARY KEY ("user_id")
);

-- CreateTable
CREATE TABLE "notifications" (
    "id" BIGSERIAL NOT NULL,
    "user_id" INTEGER NOT NULL,
    "kind" "notification_kind" NOT NULL,
    "partner_request_id" BIGINT,
    "post_id" BIGINT,
    "saved_search_id" INTEGER,
    "matches" INTEGER,
    "is_read" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "notifications_pkey" PRIMARY KEY ("user_id","id")
) PARTITION BY HASH ("user_id");

-- CreateTable
CREATE TABLE "push_subscriptions" (
    "id" SERIAL NOT NULL,
    "user_id" INTEGER NOT NULL,
    "session_id" UUID,
    "endpoint" VARCHAR(2048) NOT NULL,
    "p256dh" VARCHAR(87) NOT NULL,
    "auth" VARCHAR(22) NOT NULL,
    "user_agent" VARCHAR(400) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "failures" SMALLINT NOT NULL DEFAULT 0,
    "retry_at" TIMESTAMPTZ(3),

    CONSTRAINT "push_subscriptions_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "reports" (
    "id" BIGSERIAL NOT NULL,
    "reporter_id" INTEGER,
    "post_id" BIGINT,
    "store_id" INTEGER,
    "reason" "report_reason" NOT NULL,
    "text" VARCHAR(1000) NOT NULL DEFAULT '',
    "action" "report_action",
    "note" VARCHAR(1000) NOT NULL DEFAULT '',
    "closed_by" VARCHAR(100),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "closed_at" TIMESTAMPTZ(3),

    CONSTRAINT "reports_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "audit_entries" (
    "id" BIGSERIAL NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "operator" VARCHAR(100) NOT NULL,
    "action" VARCHAR(50) NOT NULL,
    "subject_kind" VARCHAR(20),
    "subject_id" BIGINT,
    "reason" VARCHAR(1000),
    "request_id" VARCHAR(64),
    "address" VARCHAR(45),

    CONSTRAINT "audit_entries_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "users_username_key" ON "users"("username");

-- CreateIndex
CREATE UNIQUE INDEX "users_email_key" ON "users"("email");

-- CreateIndex
CREATE INDEX "consents_user_id_kind_action_id_idx" ON "consents"("user_id", "kind", "action", "id");

-- CreateIndex
CREATE INDEX "sessions_user_id_created_at_id_idx" ON "sessions"("user_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "login_flows_user_id_idx" ON "login_flows"("user_id");

-- CreateIndex
CREATE INDEX "login_flows_expires_at_idx" ON "login_flows"("expires_at");

-- CreateIndex
CREATE INDEX "identities_user_id_idx" ON "identities"("user_id");

-- CreateIndex
CREATE UNIQUE INDEX "identities_issuer_subject_key" ON "identities"("issuer", "subject");

-- CreateIndex
CREATE UNIQUE INDEX "passkeys_credential_id_key" ON "passkeys"("credential_id");

-- CreateIndex
CREATE INDEX "passkeys_user_id_idx" ON "passkeys"("user_id");

-- CreateIndex
CREATE UNIQUE INDEX "email_codes_id_key" ON "email_codes"("id");

-- CreateIndex
CREATE INDEX "email_codes_expires_at_idx" ON "email_codes"("expires_at");

-- CreateIndex
CREATE INDEX "email_proofs_email_idx" ON "email_proofs"("email");

-- CreateIndex
CREATE INDEX "email_proofs_expires_at_idx" ON "email_proofs"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "password_resets_id_key" ON "password_resets"("id");

-- CreateIndex
CREATE INDEX "password_resets_expires_at_idx" ON "password_resets"("expires_at");

-- CreateIndex
CREATE INDEX "email_changes_user_id_idx" ON "email_changes"("user_id");

-- CreateIndex
CREATE INDEX "email_changes_expires_at_idx" ON "email_changes"("expires_at");

-- CreateIndex
CREATE INDEX "idempotency_keys_created_at_idx" ON "idempotency_keys"("created_at");

-- CreateIndex
CREATE INDEX "failed_mails_user_id_idx" ON "failed_mails"("user_id");

-- CreateIndex
CREATE INDEX "failed_mails_created_at_idx" ON "failed_mails"("created_at");

-- CreateIndex
CREATE UNIQUE INDEX "stores_owner_id_key" ON "stores"("owner_id");

-- CreateIndex
CREATE INDEX "stores_created_at_id_idx" ON "stores"("created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "saved_searches_user_id_id_idx" ON "saved_searches"("user_id", "id");

-- CreateIndex
CREATE INDEX "post_alerts_created_at_idx" ON "post_alerts"("created_at");

-- CreateIndex
CREATE INDEX "daily_counts_since_idx" ON "daily_counts"("since");

-- CreateIndex
CREATE UNIQUE INDEX "store_categories_name_key" ON "store_categories"("name");

-- CreateIndex
CREATE INDEX "store_category_links_category_id_store_id_idx" ON "store_category_links"("category_id", "store_id");

-- CreateIndex
CREATE UNIQUE INDEX "store_category_links_store_id_position_key" ON "store_category_links"("store_id", "position");

-- CreateIndex
CREATE UNIQUE INDEX "posts_id_store_id_key" ON "posts"("id", "store_id");

-- CreateIndex
CREATE UNIQUE INDEX "images_key_key" ON "images"("key");

-- CreateIndex
CREATE INDEX "images_user_id_created_at_idx" ON "images"("user_id", "created_at" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "images_id_state_key" ON "images"("id", "state");

-- CreateIndex
CREATE INDEX "post_images_image_id_image_state_idx" ON "post_images"("image_id", "image_state");

-- CreateIndex
CREATE INDEX "partner_requests_sender_store_id_created_at_id_idx" ON "partner_requests"("sender_store_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "partner_requests_sender_store_id_post_id_id_idx" ON "partner_requests"("sender_store_id", "post_id", "id" DESC);

-- CreateIndex
CREATE INDEX "partner_requests_sender_store_id_status_created_at_id_idx" ON "partner_requests"("sender_store_id", "status", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "partner_requests_receiver_store_id_created_at_id_idx" ON "partner_requests"("receiver_store_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "partner_requests_receiver_store_id_status_created_at_id_idx" ON "partner_requests"("receiver_store_id", "status", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "push_subscriptions_endpoint_key" ON "push_subscriptions"("endpoint");

-- CreateIndex
CREATE INDEX "notifications_user_id_is_read_id_idx" ON "notifications"("user_id", "is_read", "id");

-- CreateIndex
CREATE INDEX "push_subscriptions_user_id_idx" ON "push_subscriptions"("user_id");

-- CreateIndex
CREATE INDEX "reports_reporter_id_created_at_idx" ON "reports"("reporter_id", "created_at" DESC);

-- CreateIndex
CREATE INDEX "reports_post_id_idx" ON "reports"("post_id");

-- CreateIndex
CREATE INDEX "reports_store_id_idx" ON "reports"("store_id");

-- CreateIndex
CREATE INDEX "reports_closed_at_idx" ON "reports"("closed_at");

-- CreateIndex
CREATE INDEX "reports_created_at_id_idx" ON "reports"("created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "audit_entries_created_at_id_idx" ON "audit_entries"("created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "audit_entries_subject_kind_subject_id_created_at_id_idx" ON "audit_entries"("subject_kind", "subject_id", "created_at" DESC, "id" DESC);

-- AddForeignKey
ALTER TABLE "consents" ADD CONSTRAINT "consents_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "login_flows" ADD CONSTRAINT "login_flows_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "identities" ADD CONSTRAINT "identities_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "passkeys" ADD CONSTRAINT "passkeys_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "second_factors" ADD CONSTRAINT "second_factors_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "recovery_codes" ADD CONSTRAINT "recovery_codes_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "second_factors"("user_id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "email_changes" ADD CONSTRAINT "email_changes_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "known_addresses" ADD CONSTRAINT "known_addresses_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "failed_mails" ADD CONSTRAINT "failed_mails_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "stores" ADD CONSTRAINT "stores_owner_id_fkey" FOREIGN KEY ("owner_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "saved_searches" ADD CONSTRAINT "saved_searches_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "store_category_links" ADD CONSTRAINT "store_category_links_store_id_fkey" FOREIGN KEY ("store_id") REFERENCES "stores"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "store_category_links" ADD CONSTRAINT "store_category_links_category_id_fkey" FOREIGN KEY ("category_id") REFERENCES "store_categories"("id") ON DELETE RESTRICT ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "posts" ADD CONSTRAINT "posts_store_id_fkey" FOREIGN KEY ("store_id") REFERENCES "stores"("id") ON DELETE RESTRICT ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "images" ADD CONSTRAINT "images_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "post_images" ADD CONSTRAINT "post_images_post_id_fkey" FOREIGN KEY ("post_id") REFERENCES "posts"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "post_images" ADD CONSTRAINT "post_images_image_id_image_state_fkey" FOREIGN KEY ("image_id", "image_state") REFERENCES "images"("id", "state") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "partner_requests" ADD CONSTRAINT "partner_requests_post_id_receiver_store_id_fkey" FOREIGN KEY ("post_id", "receiver_store_id") REFERENCES "posts"("id", "store_id") ON DELETE RESTRICT ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "partner_requests" ADD CONSTRAINT "partner_requests_sender_store_id_fkey" FOREIGN KEY ("sender_store_id") REFERENCES "stores"("id") ON DELETE RESTRICT ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "partner_requests" ADD CONSTRAINT "partner_requests_receiver_store_id_fkey" FOREIGN KEY ("receiver_store_id") REFERENCES "stores"("id") ON DELETE RESTRICT ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "notification_counts" ADD CONSTRAINT "notification_counts_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "notifications" ADD CONSTRAINT "notifications_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "notification_counts"("user_id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "push_subscriptions" ADD CONSTRAINT "push_subscriptions_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "reports" ADD CONSTRAINT "reports_reporter_id_fkey" FOREIGN KEY ("reporter_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "reports" ADD CONSTRAINT "reports_post_id_fkey" FOREIGN KEY ("post_id") REFERENCES "posts"("id") ON DELETE RESTRICT ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "reports" ADD CONSTRAINT "reports_store_id_fkey" FOREIGN KEY ("store_id") REFERENCES "stores"("id") ON DELETE RESTRICT ON UPDATE NO ACTION;

-- From here on: what schema.prisma cannot say. The service checks all of these rules first; they hold for whatever else writes
-- here.

-- A page keeps room for new versions of its rows, so that a change of a count touches no index.
ALTER TABLE "notification_counts" SET (fillfactor = 50);

-- The same for rows that logins, refreshes and emails update: no index has what they change, so the clean-up reads the pages of these
-- tables. Large ones are vacuumed when a fiftieth has changed instead of a fifth.
ALTER TABLE "sessions" SET (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
ALTER TABLE "users" SET (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
ALTER TABLE "known_addresses" SET (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
ALTER TABLE "mail_sends" SET (fillfactor = 70);
ALTER TABLE "login_failures" SET (fillfactor = 70);
ALTER TABLE "daily_counts" SET (fillfactor = 80);

-- Read rows are frozen soon after they are added, so that no vacuum ever has all of them to do.
DO $$ BEGIN
  FOR n IN 0..15 LOOP
    EXECUTE format('CREATE TABLE notifications_%s PARTITION OF notifications FOR VALUES WITH (MODULUS 16, REMAINDER %1$s)
      WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.05)', n);
  END LOOP;
END $$;

-- What the clean-up deletes: those that were read, and those of saved searches.
CREATE INDEX "notifications_expiring_idx" ON "notifications" ("is_read", "created_at")
  WHERE "is_read" OR "kind" IN ('saved_search_match', 'saved_search_digest');

-- Users who get a digest.
CREATE INDEX "notification_counts_waiting_idx" ON "notification_counts" ("user_id") WHERE "waiting_matches" > 0;

ALTER TABLE "users" ALTER COLUMN "muted_mails" SET NOT NULL, ALTER COLUMN "muted_pushes" SET NOT NULL;
ALTER TABLE "stores" ALTER COLUMN "region_keys" SET NOT NULL;

ALTER TABLE "users"
  ADD CONSTRAINT "users_username_check" CHECK ("username" = lower("username") AND "username" ~ '^[a-z][a-z0-9._-]{3,29}$'),
  ADD CONSTRAINT "users_email_check" CHECK ("email" = lower("email"));

ALTER TABLE "sessions"
  ADD CONSTRAINT "sessions_refresh_count_check" CHECK ("refresh_count" >= 0);

ALTER TABLE "email_codes"
  ADD CONSTRAINT "email_codes_email_check" CHECK ("email" = lower("email")),
  ADD CONSTRAINT "email_codes_attempts_check" CHECK ("attempts" BETWEEN 0 AND 5);

ALTER TABLE "email_proofs"
  ADD CONSTRAINT "email_proofs_email_check" CHECK ("email" = lower("email"));

ALTER TABLE "password_resets"
  ADD CONSTRAINT "password_resets_email_check" CHECK ("email" = lower("email"));

ALTER TABLE "email_changes"
  ADD CONSTRAINT "email_changes_email_check" CHECK (
    "old_email" = lower("old_email") AND "new_email" = lower("new_email"));

-- Emails that the recipient did not request are counted by address, too.
ALTER TABLE "mail_sends"
  ADD CONSTRAINT "mail_sends_email_check" CHECK ("email" = lower("email")),
  ADD CONSTRAINT "mail_sends_sent_at_check" CHECK (
    cardinality("sent_at") <= CASE "purpose" WHEN 'partner_request' THEN 60 WHEN 'saved_search_match' THEN 21 ELSE 5 END);

ALTER TABLE "login_failures"
  ADD CONSTRAINT "login_failures_failed_at_check" CHECK (cardinality("failed_at") <= 10);

ALTER TABLE "stores"
  ADD CONSTRAINT "stores_name_check" CHECK (char_length("name") >= 1),
  ADD CONSTRAINT "stores_phone_number_check" CHECK (
    "phone_number" ~ '^(0[1-9][0-9]{0,2}-?[0-9]{3,4}-?[0-9]{4}|[1-9](-?[0-9]){7,14})?$'),
  -- A store without an owner is closed, and a closed one has no contact details.
  ADD CONSTRAINT "stores_closed_check" CHECK (
    CASE WHEN "closed_at" IS NULL THEN true
    ELSE "description" = '' AND "address" = '' AND "phone_number" = '' AND "business_hours" = '' END);

ALTER TABLE "stores" ADD CONSTRAINT "stores_location_check" CHECK (
  ("latitude" IS NULL) = ("longitude" IS NULL) AND "latitude" BETWEEN -90 AND 90 AND "longitude" BETWEEN -180 AND 180);

ALTER TABLE "saved_searches" ADD CONSTRAINT "saved_searches_filter_check" CHECK (
  num_nonnulls("q", "category_id", "region", "near") > 0 AND num_nulls("near", "latitude", "longitude") IN (0, 3));

ALTER TABLE "store_category_links"
  ADD CONSTRAINT "store_category_links_position_check" CHECK ("position" BETWEEN 1 AND 5);

-- A deleted post keeps its title, for the requests that answer it, and nothing else.
ALTER TABLE "posts"
  ADD CONSTRAINT "posts_title_check" CHECK (char_length("title") >= 1),
  ADD CONSTRAINT "posts_content_check" CHECK ("deleted_at" IS NOT NULL OR char_length("content") >= 1),
  ADD CONSTRAINT "posts_images_check" CHECK (array_position("images", NULL) IS NULL AND cardinality("images") <= 10);

-- An image that a post uses is ready: with the foreign key, it cannot leave that state while a post uses it.
ALTER TABLE "post_images"
  ADD CONSTRAINT "post_images_ready_check" CHECK ("image_state" = 'ready');

ALTER TABLE "images"
  ADD CONSTRAINT "images_size_check" CHECK ("state" <> 'ready' OR "width" BETWEEN 1 AND 1600 AND "height" BETWEEN 1 AND 1600);

ALTER TABLE "partner_requests"
  ADD CONSTRAINT "partner_requests_message_check" CHECK (char_length("message") >= 1),
  ADD CONSTRAINT "partner_requests_own_post_check" CHECK ("sender_store_id" <> "receiver_store_id");

-- Rows live for milliseconds: without frequent vacuuming, the relay reads past thousands of dead ones.
ALTER TABLE "outbox" SET (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_insert_threshold = -1);

ALTER TABLE "notification_counts"
  ADD CONSTRAINT "notification_counts_unread_check" CHECK ("unread" >= 0);

ALTER TABLE "reports"
  ADD CONSTRAINT "reports_target_check" CHECK (("post_id" IS NULL) <> ("store_id" IS NULL)),
  ADD CONSTRAINT "reports_closed_check" CHECK (
    ("closed_at" IS NULL) = ("action" IS NULL) AND ("closed_at" IS NULL) = ("closed_by" IS NULL));

ALTER TABLE "audit_entries"
  ADD CONSTRAINT "audit_entries_subject_check" CHECK (("subject_kind" IS NULL) = ("subject_id" IS NULL));

-- Feeds: newest first, of all stores and of one.
CREATE INDEX "posts_feed_idx" ON "posts" ("created_at" DESC, "id" DESC) WHERE "is_visible";
CREATE INDEX "posts_store_feed_idx" ON "posts" ("store_id", "created_at" DESC, "id" DESC) WHERE "is_visible";

-- The same of open ones, and those whose last day is over.
CREATE INDEX "posts_open_feed_idx" ON "posts" ("created_at" DESC, "id" DESC) WHERE "is_visible" AND "closed_at" IS NULL;
CREATE INDEX "posts_store_open_feed_idx" ON "posts" ("store_id", "created_at" DESC, "id" DESC)
  WHERE "is_visible" AND "closed_at" IS NULL;
CREATE INDEX "posts_due_idx" ON "posts" ("closes_on") WHERE "closes_on" IS NOT NULL AND "closed_at" IS NULL;

-- Deleted and hidden posts of a store. `posts_store_feed_idx` has the others.
CREATE INDEX "posts_invisible_idx" ON "posts" ("store_id", "created_at" DESC) WHERE NOT "is_visible";

-- Where a region is searched for: all stores, and a sample that tells how frequent it is.
CREATE INDEX "stores_region_keys_idx" ON "stores" USING gin ("region_keys") WITH (fastupdate = off) WHERE "closed_at" IS NULL;
CREATE INDEX "stores_region_keys_sample_idx" ON "stores" USING gin ("region_keys")
  WITH (fastupdate = off) WHERE "closed_at" IS NULL AND "id" % 503 = 0;

-- Whom the clean-up asks about marketing.
CREATE INDEX "users_marketing_asked_at_idx" ON "users" ("marketing_asked_at") WHERE "marketing_asked_at" IS NOT NULL;

-- What the clean-up looks at next. Images that posts use, which are most of them, are not in it.
CREATE INDEX "images_check_after_idx" ON "images" ("check_after") WHERE "check_after" IS NOT NULL;

-- One pending or accepted request of a store for a post.
CREATE UNIQUE INDEX "partner_requests_open_key" ON "partner_requests" ("sender_store_id", "post_id")
  WHERE "status" IN ('requested', 'accepted');

-- What is withdrawn when a post is deleted.
CREATE INDEX "partner_requests_pending_idx" ON "partner_requests" ("post_id") WHERE "status" = 'requested';

-- The partners of a store, by the time at which their requests were accepted. The other store is in the index, so that
-- finding the newest request of each pair of stores reads no other table.
CREATE INDEX "partner_requests_sent_partners_idx" ON "partner_requests" ("sender_store_id", "updated_at" DESC, "id" DESC)
  INCLUDE ("receiver_store_id") WHERE "status" = 'accepted';
CREATE INDEX "partner_requests_received_partners_idx" ON "partner_requests" ("receiver_store_id", "updated_at" DESC, "id" DESC)
  INCLUDE ("sender_store_id") WHERE "status" = 'accepted';
CREATE INDEX "partner_requests_partner_idx" ON "partner_requests" ("sender_store_id", "receiver_store_id", "updated_at" DESC, "id" DESC)
  WHERE "status" = 'accepted';

-- One open report of a user about one target.
CREATE UNIQUE INDEX "reports_open_post_key" ON "reports" ("reporter_id", "post_id")
  WHERE "closed_at" IS NULL AND "post_id" IS NOT NULL;
CREATE UNIQUE INDEX "reports_open_store_key" ON "reports" ("reporter_id", "store_id")
  WHERE "closed_at" IS NULL AND "store_id" IS NOT NULL;

-- The lists of open and of closed reports.
CREATE INDEX "reports_open_idx" ON "reports" ("created_at" DESC, "id" DESC) WHERE "closed_at" IS NULL;
CREATE INDEX "reports_closed_idx" ON "reports" ("created_at" DESC, "id" DESC) WHERE "closed_at" IS NOT NULL;

-- Listed in this order; '기타' (other) comes last.
INSERT INTO "store_categories" ("name", "name_en", "list_order") VALUES
  ('카페', 'Cafe', 0),
  ('음식점', 'Restaurant', 0),
  ('베이커리', 'Bakery', 0),
  ('주점', 'Bar', 0),
  ('식료품', 'Groceries', 0),
  ('의류·잡화', 'Clothing & accessories', 0),
  ('미용', 'Beauty', 0),
  ('건강·운동', 'Health & fitness', 0),
  ('교육', 'Education', 0),
  ('문화·여가', 'Culture & leisure', 0),
  ('숙박', 'Accommodation', 0),
  ('기타', 'Other', 1),
  ('꽃·식물', 'Flowers & plants', 0),
  ('반려동물', 'Pets', 0),
  ('생활·수리', 'Home & repairs', 0),
  ('사진·디자인', 'Photography & design', 0),
  ('서점·문구', 'Books & stationery', 0),
  ('공방', 'Craft studio', 0);
