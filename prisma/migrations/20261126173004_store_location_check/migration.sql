ALTER TABLE "stores" ADD CONSTRAINT "stores_location_check" CHECK (
  ("latitude" IS NULL) = ("longitude" IS NULL) AND "latitude" BETWEEN -90 AND 90 AND "longitude" BETWEEN -180 AND 180) NOT VALID;
