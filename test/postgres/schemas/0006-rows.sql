SELECT setval('parley.number', 11);
INSERT INTO parley.execution (task, place, lease_end, turn, epoch, attempt, hand_overs, part, ready, agent, node, message, caller, checkpoint, cancel, arrived) VALUES
('6', '7', '1795988115200', '1', '1', '1', '0', '210', 'false', 'test', 'here', '{"messageId":"first of runs","role":"ROLE_USER","parts":[{"text":"first of runs"}]}', '{"extensions":[],"version":"1.0"}', '{"step":1}', NULL, '1795988115200'),
('6', '8', '0', '2', '0', '0', '0', '210', 'false', 'test', NULL, '{"messageId":"second of runs","role":"ROLE_USER","parts":[{"text":"second of runs"}]}', '{"extensions":[],"version":"1.0"}', NULL, NULL, '1795988115215'),
('9', '11', '0', '1', '0', '0', '0', '210', 'true', 'test', NULL, '{"messageId":"first of waits","role":"ROLE_USER","parts":[{"text":"first of waits"}]}', '{"extensions":[],"version":"1.0"}', NULL, NULL, '1795988115217');
INSERT INTO parley.idempotency (scope, expires, lease_end, turn, part, key, digest, task_id, full_task_id, reply, node, agent, tenant, owner) VALUES
('e68886c0-05d9-c414-d3df-9a053e668f62', '4951748115174', NULL, '1', '210', 'message', 'digest', 'done', NULL, NULL, 'here', 'test', '', 'alice'),
('e68886c0-05d9-c414-d3df-9a053e668f62', '4951748115222', NULL, NULL, '210', 'reply', 'digest', NULL, NULL, '{"messageId":"reply","role":"ROLE_AGENT","parts":[{"text":"Hello"}]}', NULL, 'test', '', 'alice');
INSERT INTO parley.push_config (task, place, due, epoch, lease_end, position, attempts, last_status, part, agent, id, node, parked, config, trace) VALUES
('1', '2', '1795988115174', '1795988115175', NULL, '0', '0', NULL, '210', 'test', 'hook', NULL, NULL, '{"id":"hook","url":"https://example.com/hook","token":"token","taskId":"done"}', NULL),
('9', '10', '1795988115217', '1795988115218', NULL, '0', '0', NULL, '210', 'test', 'hook', NULL, NULL, '{"id":"hook","url":"https://example.com/hook","token":"token","taskId":"waits"}', NULL);
INSERT INTO parley.schema_change (name, timestamp) VALUES
('0001', '2026-11-29T21:35:15.103Z'),
('0002', '2026-11-29T21:35:15.131Z'),
('0003', '2026-11-29T21:35:15.133Z'),
('0004', '2026-11-29T21:35:15.146Z'),
('0005', '2026-11-29T21:35:15.150Z');
INSERT INTO parley.schema_lock (id, is_locked) VALUES
('migration_lock', '0');
INSERT INTO parley.task (pk, bytes, status_time, created, ended, scope, context, seq, floor, epoch, held, turns, queued, began, snapshot_seq, part, state, earlier_state, pushes, agent, tenant, owner, id, full_id, context_id, status, snapshot_status, metadata, history, artifacts, version) VALUES
('1', '850', '1767225600000', '1795988115174', '1795988115187', 'e68886c0-05d9-c414-d3df-9a053e668f62', '4f9d2e57-0e77-a467-c2d5-5504cb8c0b60', '5', '1', '1', '0', '1', '0', '1', '5', '210', '3', '2', 'true', 'test', '', 'alice', 'done', NULL, 'shared', '{"state":"TASK_STATE_COMPLETED","timestamp":"2026-01-01T00:00:00.000Z"}', NULL, '{"count":2}', E'[{"messageId":"first of done","role":"ROLE_USER","parts":[{"text":"first of done"}]},{"messageId":"note","role":"ROLE_AGENT","parts":[{"text":"It''s a note\\nof two lines"}]}]', '[{"artifactId":"a","parts":[{"text":"one"},{"data":{"number":2}}]}]', '1'),
('4', '448', '1767225600000', '1795988115191', NULL, 'e68886c0-05d9-c414-d3df-9a053e668f62', '4f9d2e57-0e77-a467-c2d5-5504cb8c0b60', '2', '1', '1', '0', '1', '0', '1', '0', '210', '6', '1', 'false', 'test', '', 'alice', 'asks', NULL, 'shared', '{"state":"TASK_STATE_INPUT_REQUIRED","timestamp":"2026-01-01T00:00:00.000Z","message":{"messageId":"question","role":"ROLE_AGENT","parts":[{"text":"Which one?"}]}}', NULL, NULL, NULL, NULL, '1'),
('6', '366', '1767225600000', '1795988115200', NULL, 'e68886c0-05d9-c414-d3df-9a053e668f62', 'b1fb9865-4cc0-1c62-58c7-d5c28e2f57c5', '2', '1', '1', '1', '2', '2', '1', '0', '210', '1', '1', 'false', 'test', '', 'alice', 'runs', NULL, 'context of runs', '{"state":"TASK_STATE_SUBMITTED","timestamp":"2026-01-01T00:00:00.000Z"}', NULL, NULL, NULL, NULL, '1'),
('9', '222', '1767225600000', '1795988115217', NULL, 'e68886c0-05d9-c414-d3df-9a053e668f62', '43804e84-f20a-06e7-6532-09a12a41de1f', '1', '1', '0', '0', '1', '1', '0', '0', '210', '1', '1', 'true', 'test', '', 'alice', 'waits', NULL, 'alone', '{"state":"TASK_STATE_SUBMITTED","timestamp":"2026-01-01T00:00:00.000Z"}', NULL, NULL, NULL, NULL, '0');
INSERT INTO parley.task_count_change (scope, tasks, from_state, to_state, part) VALUES
('e68886c0-05d9-c414-d3df-9a053e668f62', '1', NULL, '1', '210'),
('e68886c0-05d9-c414-d3df-9a053e668f62', '1', '1', '2', '210'),
('e68886c0-05d9-c414-d3df-9a053e668f62', '1', '2', '3', '210'),
('e68886c0-05d9-c414-d3df-9a053e668f62', '1', NULL, '1', '210'),
('e68886c0-05d9-c414-d3df-9a053e668f62', '1', '1', '6', '210'),
('e68886c0-05d9-c414-d3df-9a053e668f62', '1', NULL, '1', '210'),
('e68886c0-05d9-c414-d3df-9a053e668f62', '1', NULL, '1', '210');
INSERT INTO parley.task_record (task, seq, turn, part, event, history, metadata) VALUES
('1', '1', '0', '210', '{"task":{"id":"done","contextId":"shared","status":{"state":"TASK_STATE_SUBMITTED","timestamp":"2026-01-01T00:00:00.000Z"},"history":[{"messageId":"first of done","role":"ROLE_USER","parts":[{"text":"first of done"}]}]}}', NULL, NULL),
('1', '2', '1', '210', '{"statusUpdate":{"taskId":"done","contextId":"shared","status":{"state":"TASK_STATE_WORKING","timestamp":"2026-01-01T00:00:00.000Z"}}}', NULL, NULL),
('1', '3', '1', '210', '{"artifactUpdate":{"taskId":"done","contextId":"shared","artifact":{"artifactId":"a","parts":[{"text":"one"}]},"append":false}}', E'[{"messageId":"note","role":"ROLE_AGENT","parts":[{"text":"It''s a note\\nof two lines"}]}]', NULL),
('1', '4', '1', '210', '{"artifactUpdate":{"taskId":"done","contextId":"shared","artifact":{"artifactId":"a","parts":[{"data":{"number":2}}]},"append":true}}', NULL, NULL),
('1', '5', '1', '210', '{"statusUpdate":{"taskId":"done","contextId":"shared","status":{"state":"TASK_STATE_COMPLETED","timestamp":"2026-01-01T00:00:00.000Z"}}}', NULL, '{"count":2}'),
('4', '1', '0', '210', '{"task":{"id":"asks","contextId":"shared","status":{"state":"TASK_STATE_SUBMITTED","timestamp":"2026-01-01T00:00:00.000Z"},"history":[{"messageId":"first of asks","role":"ROLE_USER","parts":[{"text":"first of asks"}]}]}}', NULL, NULL),
('4', '2', '1', '210', '{"statusUpdate":{"taskId":"asks","contextId":"shared","status":{"state":"TASK_STATE_INPUT_REQUIRED","timestamp":"2026-01-01T00:00:00.000Z","message":{"messageId":"question","role":"ROLE_AGENT","parts":[{"text":"Which one?"}]}}}}', NULL, NULL),
('6', '1', '0', '210', '{"task":{"id":"runs","contextId":"context of runs","status":{"state":"TASK_STATE_SUBMITTED","timestamp":"2026-01-01T00:00:00.000Z"},"history":[{"messageId":"first of runs","role":"ROLE_USER","parts":[{"text":"first of runs"}]}]}}', NULL, NULL),
('6', '2', '1', '210', '{"artifactUpdate":{"taskId":"runs","contextId":"context of runs","artifact":{"artifactId":"a","parts":[{"text":"half"}]},"append":false}}', NULL, NULL),
('9', '1', '0', '210', '{"task":{"id":"waits","contextId":"alone","status":{"state":"TASK_STATE_SUBMITTED","timestamp":"2026-01-01T00:00:00.000Z"},"history":[{"messageId":"first of waits","role":"ROLE_USER","parts":[{"text":"first of waits"}]}]}}', NULL, NULL);
