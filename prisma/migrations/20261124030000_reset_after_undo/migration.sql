-- AlterTable
ALTER TABLE "users" ADD COLUMN     "reset_only_until" TIMESTAMPTZ(3);
