ALTER TABLE "push_subscriptions" ADD COLUMN     "session_id" UUID;
