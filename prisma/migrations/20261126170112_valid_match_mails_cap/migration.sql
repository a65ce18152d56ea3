ALTER TABLE "mail_sends" VALIDATE CONSTRAINT "mail_sends_sent_at_check";
