ALTER TABLE "store_categories" ADD COLUMN "name_en" VARCHAR(30) NOT NULL DEFAULT '';

-- Allow rows-in-transaction: 18 rows, which nothing but migrations changes.
UPDATE "store_categories" SET "name_en" = english FROM (VALUES
  ('카페', 'Cafe'), ('음식점', 'Restaurant'), ('베이커리', 'Bakery'), ('주점', 'Bar'), ('식료품', 'Groceries'),
  ('의류·잡화', 'Clothing & accessories'), ('미용', 'Beauty'), ('건강·운동', 'Health & fitness'), ('교육', 'Education'),
  ('문화·여가', 'Culture & leisure'), ('숙박', 'Accommodation'), ('기타', 'Other'), ('꽃·식물', 'Flowers & plants'),
  ('반려동물', 'Pets'), ('생활·수리', 'Home & repairs'), ('사진·디자인', 'Photography & design'), ('서점·문구', 'Books & stationery'),
  ('공방', 'Craft studio')) AS shipped (korean, english)
WHERE "name" = korean;
