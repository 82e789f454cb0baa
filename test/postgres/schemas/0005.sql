ALTER TABLE "parley".task ADD COLUMN version integer NOT NULL DEFAULT 0;
CREATE FUNCTION "parley".move_task() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        NEW.version := OLD.version + 1;
        RETURN NEW;
      END $$;
CREATE TRIGGER task_moved BEFORE UPDATE OF epoch, held, turns, queued, ended ON "parley".task FOR EACH ROW
      WHEN (NEW.version = OLD.version AND (NEW.epoch <> OLD.epoch OR NEW.held <> OLD.held OR NEW.turns <> OLD.turns
        OR NEW.queued <> OLD.queued OR NEW.ended IS DISTINCT FROM OLD.ended)) EXECUTE FUNCTION "parley".move_task();
