-- AlterEnum
ALTER TYPE "partner_request_status" ADD VALUE 'ended';

-- AlterEnum
ALTER TYPE "notification_kind" ADD VALUE 'partner_request_ended';
