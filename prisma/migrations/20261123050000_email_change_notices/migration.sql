-- AlterEnum
ALTER TYPE "mail_purpose" ADD VALUE 'email_change';
