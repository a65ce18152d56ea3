-- CreateEnum
CREATE TYPE "role" AS ENUM ('user', 'admin');

-- CreateEnum
CREATE TYPE "language" AS ENUM ('ko', 'en');

-- CreateEnum
CREATE TYPE "mail_purpose" AS ENUM ('email_verify', 'reset_password', 'find_id');

-- CreateTable
CREATE TABLE "users" (
    "id" SERIAL NOT NULL,
    "username" VARCHAR(30) NOT NULL,
    "email" VARCHAR(254) NOT NULL,
    "name" VARCHAR(50) NOT NULL,
    "password_hash" TEXT NOT NULL,
    "role" "role" NOT NULL DEFAULT 'user',
    "language" "language" NOT NULL DEFAULT 'ko',
    "is_verified" BOOLEAN NOT NULL DEFAULT false,
    "suspended_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "users_pkey" PRIMARY KEY ("id")
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

    CONSTRAINT "sessions_pkey" PRIMARY KEY ("id")
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
    "scope" VARCHAR(100) NOT NULL,
    "key" VARCHAR(255) NOT NULL,
    "request_hash" TEXT NOT NULL,
    "body" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("scope","key")
);

-- CreateTable
CREATE TABLE "failed_mails" (
    "id" BIGSERIAL NOT NULL,
    "kind" VARCHAR(50) NOT NULL,
    "payload" JSONB NOT NULL,
    "reason" TEXT NOT NULL,
    "attempts" SMALLINT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "failed_mails_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "users_username_key" ON "users"("username");

-- CreateIndex
CREATE UNIQUE INDEX "users_email_key" ON "users"("email");

-- CreateIndex
CREATE INDEX "sessions_user_id_created_at_idx" ON "sessions"("user_id", "created_at" DESC);

-- CreateIndex
CREATE INDEX "sessions_expires_at_idx" ON "sessions"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "email_codes_id_key" ON "email_codes"("id");

-- CreateIndex
CREATE INDEX "email_codes_expires_at_idx" ON "email_codes"("expires_at");

-- CreateIndex
CREATE INDEX "email_proofs_expires_at_idx" ON "email_proofs"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "password_resets_id_key" ON "password_resets"("id");

-- CreateIndex
CREATE INDEX "password_resets_expires_at_idx" ON "password_resets"("expires_at");

-- CreateIndex
CREATE INDEX "mail_sends_updated_at_idx" ON "mail_sends"("updated_at");

-- CreateIndex
CREATE INDEX "login_failures_updated_at_idx" ON "login_failures"("updated_at");

-- CreateIndex
CREATE INDEX "known_addresses_last_used_at_idx" ON "known_addresses"("last_used_at");

-- CreateIndex
CREATE INDEX "idempotency_keys_created_at_idx" ON "idempotency_keys"("created_at");

-- CreateIndex
CREATE INDEX "failed_mails_created_at_idx" ON "failed_mails"("created_at");

-- AddForeignKey
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "known_addresses" ADD CONSTRAINT "known_addresses_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;


-- Rules that schema.prisma cannot say. The service checks all of them first; these hold for whatever else writes here.
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

ALTER TABLE "mail_sends"
  ADD CONSTRAINT "mail_sends_email_check" CHECK ("email" = lower("email")),
  ADD CONSTRAINT "mail_sends_sent_at_check" CHECK (cardinality("sent_at") <= 5);

ALTER TABLE "login_failures"
  ADD CONSTRAINT "login_failures_failed_at_check" CHECK (cardinality("failed_at") <= 10);

-- A suspension ends the account's sessions for good: lifting it gives none of them back.
CREATE FUNCTION "end_suspended_sessions"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM sessions WHERE user_id = NEW.id;
  RETURN NULL;
END $$;

CREATE TRIGGER "users_suspended" AFTER UPDATE OF "suspended_at" ON "users"
  FOR EACH ROW WHEN (NEW."suspended_at" IS NOT NULL) EXECUTE FUNCTION "end_suspended_sessions"();
