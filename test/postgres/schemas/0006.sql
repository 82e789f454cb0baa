ALTER TABLE "parley".push_config ADD COLUMN trace text;
ALTER TABLE "parley".push_config ALTER COLUMN trace SET STATISTICS 0;
