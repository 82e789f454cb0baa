CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE agent (pk INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE scope (pk INTEGER PRIMARY KEY, agent INTEGER NOT NULL, tenant TEXT NOT NULL, owner TEXT) STRICT;
CREATE TABLE context (
  scope INTEGER, id TEXT, number INTEGER NOT NULL, tasks INTEGER NOT NULL, PRIMARY KEY (scope, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE task (
  pk INTEGER PRIMARY KEY, agent INTEGER NOT NULL, id TEXT NOT NULL, scope INTEGER NOT NULL,
  context INTEGER, context_id TEXT,
  state INTEGER NOT NULL, status_time INTEGER NOT NULL, created INTEGER NOT NULL,
  seq INTEGER NOT NULL, floor INTEGER NOT NULL, epoch INTEGER NOT NULL, turns INTEGER NOT NULL,
  held INTEGER, node TEXT, lease_end INTEGER, began INTEGER NOT NULL, ended INTEGER,
  status TEXT NOT NULL, metadata TEXT, bytes INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE task_count (scope INTEGER, state INTEGER, tasks INTEGER NOT NULL, PRIMARY KEY (scope, state)) STRICT, WITHOUT ROWID;
CREATE TABLE task_record (
  key INTEGER PRIMARY KEY, turn INTEGER NOT NULL, event TEXT NOT NULL, history TEXT, metadata TEXT
) STRICT;
CREATE TABLE snapshot (
  task INTEGER PRIMARY KEY, seq INTEGER NOT NULL, status TEXT NOT NULL, metadata TEXT, history TEXT, artifacts TEXT
) STRICT;
CREATE TABLE execution (
  task INTEGER, turn INTEGER, place INTEGER NOT NULL, ready INTEGER NOT NULL, attempt INTEGER NOT NULL,
  message TEXT NOT NULL, caller TEXT NOT NULL, checkpoint TEXT, cancel TEXT, hand_overs INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (task, turn)
) STRICT, WITHOUT ROWID;
CREATE TABLE push_config (
  task INTEGER, id TEXT, config TEXT NOT NULL, PRIMARY KEY (task, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE push_delivery (
  pk INTEGER PRIMARY KEY, task INTEGER NOT NULL, agent INTEGER NOT NULL, config TEXT NOT NULL,
  position INTEGER NOT NULL, due INTEGER, attempts INTEGER NOT NULL, status INTEGER, parked TEXT,
  epoch INTEGER NOT NULL, node TEXT, lease_end INTEGER, trace TEXT
) STRICT;
CREATE TABLE idempotency (
  pk INTEGER PRIMARY KEY, scope INTEGER NOT NULL, key TEXT NOT NULL, expires INTEGER NOT NULL, digest TEXT NOT NULL,
  task TEXT, turn INTEGER, reply TEXT, node TEXT, lease_end INTEGER, lasting INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX scope_name ON scope (agent, tenant, owner);
CREATE UNIQUE INDEX task_id ON task (id, scope);
CREATE INDEX task_state ON task (scope, state, status_time, id);
CREATE INDEX task_context ON task (context, state, status_time, id) WHERE context IS NOT NULL;
CREATE INDEX task_alone ON task (scope, context_id) WHERE context IS NULL AND context_id IS NOT NULL;
CREATE INDEX task_created ON task (scope, created, id);
CREATE INDEX task_ended ON task (ended, bytes) WHERE ended IS NOT NULL;
CREATE INDEX task_interrupted ON task (status_time) WHERE state IN (6, 8);
CREATE INDEX execution_ready ON execution (place) WHERE ready = 1;
CREATE UNIQUE INDEX push_delivery_config ON push_delivery (task, config);
CREATE INDEX push_delivery_due ON push_delivery (due) WHERE due IS NOT NULL;
CREATE UNIQUE INDEX idempotency_key ON idempotency (scope, key);
INSERT INTO meta VALUES ('schema', '13');
INSERT INTO agent VALUES (1, 'test');
INSERT INTO scope VALUES (1, 1, '', 'alice');
INSERT INTO context VALUES (1, 'shared', 1, 2);
INSERT INTO task VALUES (1, 1, 'done', 1, 1, 'shared', 3, 1767225600000, 1767225600000, 5, 1, 1, 1, NULL, NULL, NULL, 1, 1767225600000, '{"state":"TASK_STATE_COMPLETED","timestamp":"2026-01-01T00:00:00.000Z"}', '{"count":2}', 854);
INSERT INTO task VALUES (2, 1, 'asks', 1, 1, 'shared', 6, 1767225600000, 1767225600000, 2, 1, 1, 1, NULL, NULL, NULL, 1, NULL, '{"state":"TASK_STATE_INPUT_REQUIRED","timestamp":"2026-01-01T00:00:00.000Z","message":{"messageId":"question","role":"ROLE_AGENT","parts":[{"text":"Which one?"}]}}', NULL, 448);
INSERT INTO task VALUES (3, 1, 'runs', 1, NULL, 'context of runs', 1, 1767225600000, 1767225600000, 2, 1, 1, 2, 1, 'here', 1767225600000, 1, NULL, '{"state":"TASK_STATE_SUBMITTED","timestamp":"2026-01-01T00:00:00.000Z"}', NULL, 366);
INSERT INTO task VALUES (4, 1, 'waits', 1, NULL, 'alone', 1, 1767225600000, 1767225600000, 1, 1, 0, 1, NULL, NULL, NULL, 0, NULL, '{"state":"TASK_STATE_SUBMITTED","timestamp":"2026-01-01T00:00:00.000Z"}', NULL, 222);
INSERT INTO task_count VALUES (1, 1, 2);
INSERT INTO task_count VALUES (1, 2, 0);
INSERT INTO task_count VALUES (1, 3, 1);
INSERT INTO task_count VALUES (1, 6, 1);
INSERT INTO task_record VALUES (2147483649, 0, '{"task":{"id":"done","contextId":"shared","status":{"state":"TASK_STATE_SUBMITTED","timestamp":"2026-01-01T00:00:00.000Z"},"history":[{"messageId":"first of done","role":"ROLE_USER","parts":[{"text":"first of done"}]}]}}', NULL, NULL);
INSERT INTO task_record VALUES (2147483652, 1, '{"statusUpdate":{"taskId":"done","contextId":"shared","status":{"state":"TASK_STATE_WORKING","timestamp":"2026-01-01T00:00:00.000Z"}}}
{"artifactUpdate":{"taskId":"done","contextId":"shared","artifact":{"artifactId":"a","parts":[{"text":"one"}]},"append":false}}
{"artifactUpdate":{"taskId":"done","contextId":"shared","artifact":{"artifactId":"a","parts":[{"data":{"number":2}}]},"append":true}}', '
[{"messageId":"note","role":"ROLE_AGENT","parts":[{"text":"It''s a note\nof two lines"}]}]
', NULL);
INSERT INTO task_record VALUES (2147483653, 1, '{"statusUpdate":{"taskId":"done","contextId":"shared","status":{"state":"TASK_STATE_COMPLETED","timestamp":"2026-01-01T00:00:00.000Z"}}}', NULL, '{"count":2}');
INSERT INTO task_record VALUES (4294967297, 0, '{"task":{"id":"asks","contextId":"shared","status":{"state":"TASK_STATE_SUBMITTED","timestamp":"2026-01-01T00:00:00.000Z"},"history":[{"messageId":"first of asks","role":"ROLE_USER","parts":[{"text":"first of asks"}]}]}}', NULL, NULL);
INSERT INTO task_record VALUES (4294967298, 1, '{"statusUpdate":{"taskId":"asks","contextId":"shared","status":{"state":"TASK_STATE_INPUT_REQUIRED","timestamp":"2026-01-01T00:00:00.000Z","message":{"messageId":"question","role":"ROLE_AGENT","parts":[{"text":"Which one?"}]}}}}', NULL, NULL);
INSERT INTO task_record VALUES (6442450945, 0, '{"task":{"id":"runs","contextId":"context of runs","status":{"state":"TASK_STATE_SUBMITTED","timestamp":"2026-01-01T00:00:00.000Z"},"history":[{"messageId":"first of runs","role":"ROLE_USER","parts":[{"text":"first of runs"}]}]}}', NULL, NULL);
INSERT INTO task_record VALUES (6442450946, 1, '{"artifactUpdate":{"taskId":"runs","contextId":"context of runs","artifact":{"artifactId":"a","parts":[{"text":"half"}]},"append":false}}', NULL, NULL);
INSERT INTO task_record VALUES (8589934593, 0, '{"task":{"id":"waits","contextId":"alone","status":{"state":"TASK_STATE_SUBMITTED","timestamp":"2026-01-01T00:00:00.000Z"},"history":[{"messageId":"first of waits","role":"ROLE_USER","parts":[{"text":"first of waits"}]}]}}', NULL, NULL);
INSERT INTO snapshot VALUES (1, 5, '{"state":"TASK_STATE_COMPLETED","timestamp":"2026-01-01T00:00:00.000Z"}', '{"count":2}', '[{"messageId":"first of done","role":"ROLE_USER","parts":[{"text":"first of done"}]},{"messageId":"note","role":"ROLE_AGENT","parts":[{"text":"It''s a note\nof two lines"}]}]', '[{"artifactId":"a","parts":[{"text":"one"},{"data":{"number":2}}]}]');
INSERT INTO execution VALUES (3, 1, 1809639014400002, 0, 1, '{"messageId":"first of runs","role":"ROLE_USER","parts":[{"text":"first of runs"}]}', '{"extensions":[],"version":"1.0"}', '{"step":1}', NULL, 0);
INSERT INTO execution VALUES (3, 2, 1809639014400003, 0, 0, '{"messageId":"second of runs","role":"ROLE_USER","parts":[{"text":"second of runs"}]}', '{"extensions":[],"version":"1.0"}', NULL, NULL, 0);
INSERT INTO execution VALUES (4, 1, 1809639014400004, 1, 0, '{"messageId":"first of waits","role":"ROLE_USER","parts":[{"text":"first of waits"}]}', '{"extensions":[],"version":"1.0"}', NULL, NULL, 0);
INSERT INTO push_config VALUES (1, 'hook', '{"id":"hook","url":"https://example.com/hook","token":"token","taskId":"done"}');
INSERT INTO push_config VALUES (4, 'hook', '{"id":"hook","url":"https://example.com/hook","token":"token","taskId":"waits"}');
INSERT INTO push_delivery VALUES (1, 1, 1, 'hook', 0, 1767225600000, 0, NULL, NULL, 1767225600001, NULL, NULL, NULL);
INSERT INTO push_delivery VALUES (2, 4, 1, 'hook', 0, 1767225600000, 0, NULL, NULL, 1767225600001, NULL, NULL, NULL);
INSERT INTO idempotency VALUES (1290531137126400001, 1, 'message', 4922985600000, 'digest', 'done', 1, NULL, NULL, NULL, 0);
INSERT INTO idempotency VALUES (1290531137126400002, 1, 'reply', 4922985600000, 'digest', NULL, NULL, '{"messageId":"reply","role":"ROLE_AGENT","parts":[{"text":"Hello"}]}', NULL, NULL, 0);
