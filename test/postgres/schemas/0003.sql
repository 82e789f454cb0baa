ALTER TABLE "parley".execution ADD COLUMN arrived bigint;
ALTER TABLE "parley".execution ALTER COLUMN arrived SET DEFAULT "parley".now_ms();
