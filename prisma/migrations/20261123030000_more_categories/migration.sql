-- AlterTable
ALTER TABLE "store_categories" ADD COLUMN     "list_order" SMALLINT NOT NULL DEFAULT 0;

UPDATE "store_categories" SET "list_order" = 1 WHERE "name" = '기타';

INSERT INTO "store_categories" ("name") VALUES
  ('꽃·식물'), ('반려동물'), ('생활·수리'), ('사진·디자인'), ('서점·문구'), ('공방');
