import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { DeliveryOutcome } from '../../packages/parley/src/store/push-storage.js';
import {
  claimedDelivery,
  dueDelivery,
  isDeliveryClaimable,
  settledDelivery,
} from '../../packages/parley/src/store/rules/decide-delivery.js';
import type { DeliveryHead } from '../../packages/parley/src/store/rules/delivery-head.js';
import type { PostgresStorage } from '../../packages/postgres/src/postgres-storage.js';
import { ALICE, LEASE, TaskPlay } from '../contract/storage/task-play.js';
import { StorageClock } from '../contract/storage/tested-storage.js';
import { PostgresServer } from '../support/servers/postgres-server.js';
import { clockedStorage } from './contract-storage.js';

let server: PostgresServer;
let storage: PostgresStorage;
let admin: pg.Client;
const clock = new StorageClock();
const LAST = 4;
let play: TaskPlay;
beforeAll(async () => {
  server = await PostgresServer.start('fsync=off');
  const url = await server.newDatabase();
  storage = await clockedStorage(url, clock);
  admin = new pg.Client({ connectionString: url });
  await admin.connect();
  const pushConfig = { id: 'hook', url: 'https://example.com/hook' };
  play = await TaskPlay.begin({ storage, clock }, 't', { pushConfig });
  await play.write([play.chunk('a'), play.chunk('b'), play.chunk('c')]);
});
afterAll(async () => {
  await storage.close();
  await admin.end();
  await server[Symbol.asyncDispose]();
});

const now = clock.now();
const near = fc.integer({ min: now - 3, max: now + 3 });
const anyHead: fc.Arbitrary<DeliveryHead> = fc.record({
  position: fc.integer({ min: 0, max: LAST }),
  dueAt: fc.option(near, { nil: undefined }),
  attempts: fc.nat({ max: 3 }),
  lastStatus: fc.option(fc.constantFrom(200, 500), { nil: undefined }),
  parked: fc.option(fc.constant('gone'), { nil: undefined, freq: 5 }),
  epoch: fc.integer({ min: 1, max: 3 }),
  holder: fc.option(fc.record({ node: fc.constantFrom('a', 'b'), leaseEnd: near }), { nil: undefined, freq: 2 }),
  trace: fc.option(fc.constant('00-a 00-b'), { nil: undefined }),
});
const inMs = fc.nat({ max: 5 });
const status = fc.option(fc.constantFrom(204, 503), { nil: undefined });
const anyOutcome = fc.oneof(
  fc.record({
    kind: fc.constant('delivered' as const),
    through: fc.integer({ min: 0, max: LAST + 1 }),
    status,
    leaseMs: fc.option(inMs, { nil: undefined }),
  }),
  fc.record({ kind: fc.constant('retry' as const), inMs, status, trace: fc.constantFrom(undefined, '00-c') }),
  fc.record({ kind: fc.constant('defer' as const), inMs }),
  fc.record({ kind: fc.constant('park' as const), reason: fc.constant('410'), status }),
);

/** Writes the queue of the task. */
async function put({
  position,
  dueAt,
  attempts,
  lastStatus,
  parked,
  epoch,
  holder,
  trace,
}: DeliveryHead): Promise<void> {
  await admin.query(
    `UPDATE parley.push_config SET position = $1, due = $2, attempts = $3, last_status = $4, parked = $5, epoch = $6,
      node = $7, lease_end = $8, trace = $9`,
    [position, dueAt, attempts, lastStatus, parked, epoch, holder?.node, holder?.leaseEnd, trace],
  );
}

/** Reads the queue of the task. */
async function readStored(): Promise<DeliveryHead> {
  const { rows } = await admin.query('SELECT * FROM parley.push_config');
  const [row] = rows as Record<string, string | number | null>[];
  const number = (name: string) => (row?.[name] === null ? undefined : Number(row?.[name]));
  const leaseEnd = number('lease_end');
  return {
    position: number('position') ?? 0,
    dueAt: number('due'),
    attempts: number('attempts') ?? 0,
    lastStatus: number('last_status'),
    parked: row?.parked === null ? undefined : String(row?.parked),
    epoch: number('epoch') ?? 0,
    holder: leaseEnd === undefined ? undefined : { node: String(row?.node), leaseEnd },
    trace: row?.trace === null ? undefined : String(row?.trace),
  };
}

it('a settlement writes the queue as the rule says', async () => {
  await fc.assert(
    fc.asyncProperty(anyHead, fc.integer({ min: 1, max: 3 }), anyOutcome, async (head, epoch, outcome) => {
      await put(head);
      const said = settledDelivery(head, { epoch, outcome: outcome as DeliveryOutcome }, { last: LAST, now });
      const held = { key: { scope: ALICE, id: 't' }, configId: 'hook', epoch };
      expect(await storage.push.settle(held, outcome as DeliveryOutcome)).toBe(said !== undefined);
      expect(await readStored()).toEqual(said ?? head);
    }),
    { numRuns: 200 },
  );
});

it('a claim takes the queues that the rule allows, and writes them as it says', async () => {
  await fc.assert(
    fc.asyncProperty(anyHead, async (head) => {
      await put(head);
      const isFree = isDeliveryClaimable(head, now);
      const { claims } = await storage.push.claim({ ...LEASE, agents: ['test'], limit: 5, maxBytes: 10_000 });
      expect(claims).toHaveLength(isFree ? 1 : 0);
      expect(await readStored()).toEqual(isFree ? claimedDelivery(head, LEASE, now) : head);
      if (isFree) expect(claims[0]?.records.map(({ seq }) => seq)).toEqual([1, 2, 3, 4].slice(head.position));
    }),
    { numRuns: 100 },
  );
});

it('the statement of an append makes queues due as the rule says', async () => {
  await fc.assert(
    fc.asyncProperty(anyHead, fc.boolean(), async (head, isPlain) => {
      await put(head);
      const draft = play.draft([play.chunk('d')], isPlain ? {} : { checkpoint: { at: 1 } });
      expect(await storage.append(draft)).toMatchObject({ kind: 'appended' });
      expect(await readStored()).toEqual(dueDelivery(head, now) ?? head);
      await admin.query('DELETE FROM parley.task_record WHERE seq > $1', [LAST]);
      await admin.query('UPDATE parley.task SET seq = $1', [LAST]);
    }),
    { numRuns: 100 },
  );
});
