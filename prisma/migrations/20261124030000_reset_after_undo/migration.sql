-- AlterTable
ALTER TABLE "users" ADD COLUMN     "needs_reset" BOOLEAN NOT NULL DEFAULT false;
