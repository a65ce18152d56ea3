-- AlterTable
ALTER TABLE "sessions" ADD COLUMN     "confirmed_at" TIMESTAMPTZ(3),
ADD COLUMN     "methods" TEXT[] DEFAULT ARRAY['password']::TEXT[];
