import type { StorageCall } from '../../../packages/parley/src/store/intercepted-storage.js';
import type { TaskStorage } from '../../../packages/parley/src/store/task-storage.js';
import { LogRecord } from '../../../packages/parley/src/task/log-record.js';
import { ALICE, acceptance, LEASE, userMessage } from './task-play.js';

const KEY = { scope: ALICE, id: 't1' };
const TURN = { key: KEY, turn: 1, epoch: 1 };
const QUEUE = { key: KEY, configId: 'hook', epoch: 1 };
const CONFIG = { id: 'hook', taskId: 't1', url: 'https://example.com/hook' };
const IDEMPOTENCY = { key: 'k', digest: 'd', ttlMs: 1_000 };
const STATUS = { state: 'TASK_STATE_WORKING' } as const;
const TASK = { id: 't1', contextId: 'c', status: STATUS };
const RECORD = new LogRecord(1, 1, { statusUpdate: { taskId: 't1', contextId: 'c', status: STATUS } });
const QUERY = { scope: ALICE, orderBy: 'status', limit: 1, artifacts: false, history: false } as const;
const APPEND = { key: KEY, authority: 1, after: 0, records: [RECORD], head: { status: STATUS, metadata: undefined } };

/** Makes each call of a storage and of its parts, apart from the close. */
export const EVERY_CALL: Readonly<Record<Exclude<StorageCall, 'close'>, (of: TaskStorage) => Promise<unknown>>> = {
  accept: (of) => of.accept(acceptance(userMessage('m1'), TASK)),
  append: (of) => of.append(APPEND),
  claim: (of) => of.claim({ ...LEASE, agents: ['test'], limit: 1 }),
  begin: (of) => of.begin(TURN, 1),
  renew: (of) => of.renew({ ...LEASE, turns: [TURN] }),
  release: (of) => of.release({ ...TURN, attempt: 1 }, 'done'),
  saveCheckpoint: (of) => of.saveCheckpoint(TURN, {}),
  requestCancel: (of) => of.requestCancel(ALICE, 't1', {}),
  task: (of) => of.task(ALICE, 't1'),
  tasks: (of) => of.tasks(QUERY),
  records: (of) => of.records(KEY, 0, 1_000),
  heads: (of) => of.heads([KEY]),
  abandoned: (of) => of.abandoned(['test'], 0, 1),
  create: (of) => of.create(ALICE, TASK),
  delete: (of) => of.delete(ALICE, 't1'),
  now: (of) => of.now(),
  heartbeat: (of) => of.heartbeat({ node: 'here', agents: ['test'], runningTurns: 0 }),
  nodes: (of) => of.nodes(),
  check: (of) => of.check(),
  sweep: (of) => of.sweep({ taskRetentionMs: 0, eventLogMs: 0, limit: 1 }),
  'keys.reserve': (of) => of.keys.reserve(ALICE, IDEMPOTENCY, LEASE),
  'keys.unreserve': (of) => of.keys.unreserve(ALICE, 'k', 'here'),
  'keys.remember': (of) => of.keys.remember(ALICE, IDEMPOTENCY, userMessage('r')),
  'keys.recall': (of) => of.keys.recall(ALICE, 'k'),
  'push.putConfig': (of) => of.push.putConfig(ALICE, CONFIG),
  'push.config': (of) => of.push.config(ALICE, 't1', 'hook'),
  'push.configs': (of) => of.push.configs(ALICE, 't1', { limit: 1 }),
  'push.deleteConfig': (of) => of.push.deleteConfig(ALICE, 't1', 'hook'),
  'push.rewriteConfig': (of) => of.push.rewriteConfig(QUEUE, { from: CONFIG, to: CONFIG }),
  'push.claim': (of) => of.push.claim({ ...LEASE, agents: ['test'], limit: 1, maxBytes: 1_000 }),
  'push.settle': (of) => of.push.settle(QUEUE, { kind: 'defer', inMs: 1 }),
  'push.queues': (of) => of.push.queues({ limit: 1 }),
  'push.replay': (of) => of.push.replay(QUEUE),
  'push.purge': (of) => of.push.purge(QUEUE),
  'owners.block': (of) => of.owners.block({ owner: 'bob' }, 1_000),
  'owners.scopes': (of) => of.owners.scopes({ owner: 'alice' }),
  'owners.listScopes': (of) => of.owners.listScopes({ limit: 1 }),
  'owners.allTasks': (of) => of.owners.allTasks({ hasEnded: false, limit: 1 }),
  'owners.keys': (of) => of.owners.keys(ALICE, { limit: 1 }),
  'owners.erase': (of) => of.owners.erase(ALICE, 1),
  'owners.scrub': (of) => of.owners.scrub(),
};
