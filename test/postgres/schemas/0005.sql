ALTER TABLE "parley".task ADD COLUMN version integer NOT NULL DEFAULT 0;
CREATE FUNCTION "parley".move_task() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        NEW.version := OLD.version + 1;
        RETURN NEW;
      END $$;
CREATE TRIGGER task_moved BEFORE UPDATE OF seq, epoch, held, turns, queued, began, ended, state ON "parley".task
      FOR EACH ROW WHEN (NEW.version = OLD.version) EXECUTE FUNCTION "parley".move_task();
