CREATE TABLE long_text (id INTEGER, part INTEGER, text TEXT NOT NULL, PRIMARY KEY (id, part)) WITHOUT ROWID;
CREATE TABLE message_key (
  scope INTEGER, key TEXT, digest TEXT NOT NULL, expires INTEGER NOT NULL, lasting INTEGER NOT NULL,
  bytes INTEGER NOT NULL, task TEXT, turn INTEGER, reply TEXT, node TEXT, lease_end INTEGER,
  PRIMARY KEY (scope, key)
) WITHOUT ROWID;
CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE push_queue (
  pk INTEGER PRIMARY KEY, task INTEGER NOT NULL, config_id TEXT NOT NULL, config TEXT NOT NULL,
  position INTEGER NOT NULL, due INTEGER, attempts INTEGER NOT NULL, http_status INTEGER, parked TEXT,
  epoch INTEGER NOT NULL, node TEXT, lease_end INTEGER, trace TEXT
);
CREATE TABLE record (
  task INTEGER, seq INTEGER, turn INTEGER NOT NULL, bytes INTEGER NOT NULL,
  event TEXT NOT NULL, history TEXT, metadata TEXT, PRIMARY KEY (task, seq)
) WITHOUT ROWID;
CREATE TABLE scope (pk INTEGER PRIMARY KEY, agent TEXT NOT NULL, tenant TEXT NOT NULL, owner TEXT);
CREATE TABLE snapshot (task INTEGER PRIMARY KEY, seq INTEGER NOT NULL, task_text TEXT NOT NULL);
CREATE TABLE task (
  pk INTEGER PRIMARY KEY, scope INTEGER NOT NULL, id TEXT NOT NULL, context_id TEXT,
  state TEXT NOT NULL, status_time INTEGER NOT NULL, created INTEGER NOT NULL, ended INTEGER,
  status TEXT NOT NULL, metadata TEXT,
  seq INTEGER NOT NULL, floor INTEGER NOT NULL, log_bytes INTEGER NOT NULL,
  epoch INTEGER NOT NULL, turns INTEGER NOT NULL, began INTEGER NOT NULL,
  first_place INTEGER, held_turn INTEGER, held_node TEXT, lease_end INTEGER
);
CREATE TABLE turn (
  task INTEGER, turn INTEGER, place INTEGER NOT NULL, attempts INTEGER NOT NULL, hand_overs INTEGER NOT NULL,
  message TEXT NOT NULL, caller TEXT NOT NULL, checkpoint TEXT, cancel TEXT, PRIMARY KEY (task, turn)
) WITHOUT ROWID;
CREATE INDEX message_key_expires ON message_key (lasting, expires);
CREATE TRIGGER message_key_reply_changed AFTER UPDATE OF reply ON message_key
        WHEN OLD.reply GLOB '~*' AND OLD.reply IS NOT NEW.reply BEGIN DELETE FROM long_text WHERE id = CAST(substr(OLD.reply, 2) AS INTEGER); END;
CREATE TRIGGER message_key_reply_gone AFTER DELETE ON message_key WHEN OLD.reply GLOB '~*' BEGIN DELETE FROM long_text WHERE id = CAST(substr(OLD.reply, 2) AS INTEGER); END;
CREATE UNIQUE INDEX push_queue_config ON push_queue (task, config_id);
CREATE TRIGGER push_queue_config_changed AFTER UPDATE OF config ON push_queue
        WHEN OLD.config GLOB '~*' AND OLD.config IS NOT NEW.config BEGIN DELETE FROM long_text WHERE id = CAST(substr(OLD.config, 2) AS INTEGER); END;
CREATE TRIGGER push_queue_config_gone AFTER DELETE ON push_queue WHEN OLD.config GLOB '~*' BEGIN DELETE FROM long_text WHERE id = CAST(substr(OLD.config, 2) AS INTEGER); END;
CREATE INDEX push_queue_due ON push_queue (due) WHERE due IS NOT NULL;
CREATE TRIGGER record_event_changed AFTER UPDATE OF event ON record
        WHEN OLD.event GLOB '~*' AND OLD.event IS NOT NEW.event BEGIN DELETE FROM long_text WHERE id = CAST(substr(OLD.event, 2) AS INTEGER); END;
CREATE TRIGGER record_event_gone AFTER DELETE ON record WHEN OLD.event GLOB '~*' BEGIN DELETE FROM long_text WHERE id = CAST(substr(OLD.event, 2) AS INTEGER); END;
CREATE TRIGGER record_history_changed AFTER UPDATE OF history ON record
        WHEN OLD.history GLOB '~*' AND OLD.history IS NOT NEW.history BEGIN DELETE FROM long_text WHERE id = CAST(substr(OLD.history, 2) AS INTEGER); END;
CREATE TRIGGER record_history_gone AFTER DELETE ON record WHEN OLD.history GLOB '~*' BEGIN DELETE FROM long_text WHERE id = CAST(substr(OLD.history, 2) AS INTEGER); END;
CREATE TRIGGER record_metadata_changed AFTER UPDATE OF metadata ON record
        WHEN OLD.metadata GLOB '~*' AND OLD.metadata IS NOT NEW.metadata BEGIN DELETE FROM long_text WHERE id = CAST(substr(OLD.metadata, 2) AS INTEGER); END;
CREATE TRIGGER record_metadata_gone AFTER DELETE ON record WHEN OLD.metadata GLOB '~*' BEGIN DELETE FROM long_text WHERE id = CAST(substr(OLD.metadata, 2) AS INTEGER); END;
CREATE INDEX scope_name ON scope (agent, tenant, owner);
CREATE TRIGGER snapshot_task_text_changed AFTER UPDATE OF task_text ON snapshot
        WHEN OLD.task_text GLOB '~*' AND OLD.task_text IS NOT NEW.task_text BEGIN DELETE FROM long_text WHERE id = CAST(substr(OLD.task_text, 2) AS INTEGER); END;
CREATE TRIGGER snapshot_task_text_gone AFTER DELETE ON snapshot WHEN OLD.task_text GLOB '~*' BEGIN DELETE FROM long_text WHERE id = CAST(substr(OLD.task_text, 2) AS INTEGER); END;
CREATE INDEX task_context ON task (scope, context_id, status_time, id) WHERE context_id IS NOT NULL;
CREATE INDEX task_created ON task (scope, created, id);
CREATE INDEX task_ended ON task (ended) WHERE ended IS NOT NULL;
CREATE UNIQUE INDEX task_id ON task (scope, id);
CREATE INDEX task_interrupted ON task (status_time) WHERE state IN ('TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED');
CREATE INDEX task_log ON task (ended, log_bytes) WHERE ended IS NOT NULL AND floor <= seq;
CREATE TRIGGER task_metadata_changed AFTER UPDATE OF metadata ON task
        WHEN OLD.metadata GLOB '~*' AND OLD.metadata IS NOT NEW.metadata BEGIN DELETE FROM long_text WHERE id = CAST(substr(OLD.metadata, 2) AS INTEGER); END;
CREATE TRIGGER task_metadata_gone AFTER DELETE ON task WHEN OLD.metadata GLOB '~*' BEGIN DELETE FROM long_text WHERE id = CAST(substr(OLD.metadata, 2) AS INTEGER); END;
CREATE INDEX task_state ON task (scope, state, status_time, id);
CREATE INDEX task_status ON task (scope, status_time, id);
CREATE TRIGGER task_status_changed AFTER UPDATE OF status ON task
        WHEN OLD.status GLOB '~*' AND OLD.status IS NOT NEW.status BEGIN DELETE FROM long_text WHERE id = CAST(substr(OLD.status, 2) AS INTEGER); END;
CREATE TRIGGER task_status_gone AFTER DELETE ON task WHEN OLD.status GLOB '~*' BEGIN DELETE FROM long_text WHERE id = CAST(substr(OLD.status, 2) AS INTEGER); END;
CREATE INDEX task_turns ON task (first_place) WHERE first_place IS NOT NULL;
CREATE TRIGGER turn_caller_changed AFTER UPDATE OF caller ON turn
        WHEN OLD.caller GLOB '~*' AND OLD.caller IS NOT NEW.caller BEGIN DELETE FROM long_text WHERE id = CAST(substr(OLD.caller, 2) AS INTEGER); END;
CREATE TRIGGER turn_caller_gone AFTER DELETE ON turn WHEN OLD.caller GLOB '~*' BEGIN DELETE FROM long_text WHERE id = CAST(substr(OLD.caller, 2) AS INTEGER); END;
CREATE TRIGGER turn_cancel_changed AFTER UPDATE OF cancel ON turn
        WHEN OLD.cancel GLOB '~*' AND OLD.cancel IS NOT NEW.cancel BEGIN DELETE FROM long_text WHERE id = CAST(substr(OLD.cancel, 2) AS INTEGER); END;
CREATE TRIGGER turn_cancel_gone AFTER DELETE ON turn WHEN OLD.cancel GLOB '~*' BEGIN DELETE FROM long_text WHERE id = CAST(substr(OLD.cancel, 2) AS INTEGER); END;
CREATE TRIGGER turn_checkpoint_changed AFTER UPDATE OF checkpoint ON turn
        WHEN OLD.checkpoint GLOB '~*' AND OLD.checkpoint IS NOT NEW.checkpoint BEGIN DELETE FROM long_text WHERE id = CAST(substr(OLD.checkpoint, 2) AS INTEGER); END;
CREATE TRIGGER turn_checkpoint_gone AFTER DELETE ON turn WHEN OLD.checkpoint GLOB '~*' BEGIN DELETE FROM long_text WHERE id = CAST(substr(OLD.checkpoint, 2) AS INTEGER); END;
CREATE TRIGGER turn_message_changed AFTER UPDATE OF message ON turn
        WHEN OLD.message GLOB '~*' AND OLD.message IS NOT NEW.message BEGIN DELETE FROM long_text WHERE id = CAST(substr(OLD.message, 2) AS INTEGER); END;
CREATE TRIGGER turn_message_gone AFTER DELETE ON turn WHEN OLD.message GLOB '~*' BEGIN DELETE FROM long_text WHERE id = CAST(substr(OLD.message, 2) AS INTEGER); END;
INSERT INTO message_key VALUES (1, 'message', 'digest', 4922985600000, 0, 98, 'done', 1, NULL, NULL, NULL);
INSERT INTO message_key VALUES (1, 'reply', 'digest', 4922985600000, 0, 158, NULL, NULL, '{"messageId":"reply","role":"ROLE_AGENT","parts":[{"text":"Hello"}]}', NULL, NULL);
INSERT INTO meta VALUES ('schema', 2);
INSERT INTO push_queue VALUES (1, 1, 'hook', '{"id":"hook","url":"https://example.com/hook","token":"token","taskId":"done"}', 0, 1767225600000, 0, NULL, NULL, 1767225600001, NULL, NULL, NULL);
INSERT INTO push_queue VALUES (2, 4, 'hook', '{"id":"hook","url":"https://example.com/hook","token":"token","taskId":"waits"}', 0, 1767225600000, 0, NULL, NULL, 1767225600001, NULL, NULL, NULL);
INSERT INTO record VALUES (1, 1, 0, 320, '{"task":{"id":"done","contextId":"shared","status":{"state":"TASK_STATE_SUBMITTED","timestamp":"2026-01-01T00:00:00.000Z"},"history":[{"messageId":"first of done","role":"ROLE_USER","parts":[{"text":"first of done"}]}]}}', NULL, NULL);
INSERT INTO record VALUES (1, 2, 1, 234, '{"statusUpdate":{"taskId":"done","contextId":"shared","status":{"state":"TASK_STATE_WORKING","timestamp":"2026-01-01T00:00:00.000Z"}}}', NULL, NULL);
INSERT INTO record VALUES (1, 3, 1, 227, '{"artifactUpdate":{"taskId":"done","contextId":"shared","artifact":{"artifactId":"a","parts":[{"text":"one"}]},"append":false}}', '[{"messageId":"note","role":"ROLE_AGENT","parts":[{"text":"It''s a note\nof two lines"}]}]', NULL);
INSERT INTO record VALUES (1, 4, 1, 233, '{"artifactUpdate":{"taskId":"done","contextId":"shared","artifact":{"artifactId":"a","parts":[{"data":{"number":2}}]},"append":true}}', NULL, NULL);
INSERT INTO record VALUES (1, 5, 1, 236, '{"statusUpdate":{"taskId":"done","contextId":"shared","status":{"state":"TASK_STATE_COMPLETED","timestamp":"2026-01-01T00:00:00.000Z"}}}', NULL, '{"count":2}');
INSERT INTO record VALUES (2, 1, 0, 320, '{"task":{"id":"asks","contextId":"shared","status":{"state":"TASK_STATE_SUBMITTED","timestamp":"2026-01-01T00:00:00.000Z"},"history":[{"messageId":"first of asks","role":"ROLE_USER","parts":[{"text":"first of asks"}]}]}}', NULL, NULL);
INSERT INTO record VALUES (2, 2, 1, 328, '{"statusUpdate":{"taskId":"asks","contextId":"shared","status":{"state":"TASK_STATE_INPUT_REQUIRED","timestamp":"2026-01-01T00:00:00.000Z","message":{"messageId":"question","role":"ROLE_AGENT","parts":[{"text":"Which one?"}]}}}}', NULL, NULL);
INSERT INTO record VALUES (3, 1, 0, 329, '{"task":{"id":"runs","contextId":"context of runs","status":{"state":"TASK_STATE_SUBMITTED","timestamp":"2026-01-01T00:00:00.000Z"},"history":[{"messageId":"first of runs","role":"ROLE_USER","parts":[{"text":"first of runs"}]}]}}', NULL, NULL);
INSERT INTO record VALUES (3, 2, 1, 237, '{"artifactUpdate":{"taskId":"runs","contextId":"context of runs","artifact":{"artifactId":"a","parts":[{"text":"half"}]},"append":false}}', NULL, NULL);
INSERT INTO record VALUES (4, 1, 0, 322, '{"task":{"id":"waits","contextId":"alone","status":{"state":"TASK_STATE_SUBMITTED","timestamp":"2026-01-01T00:00:00.000Z"},"history":[{"messageId":"first of waits","role":"ROLE_USER","parts":[{"text":"first of waits"}]}]}}', NULL, NULL);
INSERT INTO scope VALUES (1, 'test', '', 'alice');
INSERT INTO snapshot VALUES (1, 5, '{"id":"done","contextId":"shared","status":{"state":"TASK_STATE_COMPLETED","timestamp":"2026-01-01T00:00:00.000Z"},"artifacts":[{"artifactId":"a","parts":[{"text":"one"},{"data":{"number":2}}]}],"history":[{"messageId":"first of done","role":"ROLE_USER","parts":[{"text":"first of done"}]},{"messageId":"note","role":"ROLE_AGENT","parts":[{"text":"It''s a note\nof two lines"}]}],"metadata":{"count":2}}');
INSERT INTO task VALUES (1, 1, 'done', 'shared', 'TASK_STATE_COMPLETED', 1767225600000, 1767225600000, 1767225600000, '{"state":"TASK_STATE_COMPLETED","timestamp":"2026-01-01T00:00:00.000Z"}', '{"count":2}', 5, 1, 1250, 1, 1, 1, NULL, NULL, NULL, NULL);
INSERT INTO task VALUES (2, 1, 'asks', 'shared', 'TASK_STATE_INPUT_REQUIRED', 1767225600000, 1767225600000, NULL, '{"state":"TASK_STATE_INPUT_REQUIRED","timestamp":"2026-01-01T00:00:00.000Z","message":{"messageId":"question","role":"ROLE_AGENT","parts":[{"text":"Which one?"}]}}', NULL, 2, 1, 648, 1, 1, 1, NULL, NULL, NULL, NULL);
INSERT INTO task VALUES (3, 1, 'runs', 'context of runs', 'TASK_STATE_SUBMITTED', 1767225600000, 1767225600000, NULL, '{"state":"TASK_STATE_SUBMITTED","timestamp":"2026-01-01T00:00:00.000Z"}', NULL, 2, 1, 566, 1, 2, 1, 1809639014400002, 1, 'here', 1767225600000);
INSERT INTO task VALUES (4, 1, 'waits', 'alone', 'TASK_STATE_SUBMITTED', 1767225600000, 1767225600000, NULL, '{"state":"TASK_STATE_SUBMITTED","timestamp":"2026-01-01T00:00:00.000Z"}', NULL, 1, 1, 322, 0, 1, 0, 1809639014400004, NULL, NULL, NULL);
INSERT INTO turn VALUES (3, 1, 1809639014400002, 1, 0, '{"messageId":"first of runs","role":"ROLE_USER","parts":[{"text":"first of runs"}]}', '{"extensions":[],"version":"1.0"}', '{"step":1}', NULL);
INSERT INTO turn VALUES (3, 2, 1809639014400003, 0, 0, '{"messageId":"second of runs","role":"ROLE_USER","parts":[{"text":"second of runs"}]}', '{"extensions":[],"version":"1.0"}', NULL, NULL);
INSERT INTO turn VALUES (4, 1, 1809639014400004, 0, 0, '{"messageId":"first of waits","role":"ROLE_USER","parts":[{"text":"first of waits"}]}', '{"extensions":[],"version":"1.0"}', NULL, NULL);
