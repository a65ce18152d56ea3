-- Outside a transaction
ALTER TABLE "stores" VALIDATE CONSTRAINT "stores_location_check";
