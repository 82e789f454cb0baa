import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { HeldTurn } from '../../packages/parley/src/store/held-turn.js';
import { claimedBy, isClaimable } from '../../packages/parley/src/store/rules/decide-lease.js';
import type { Holder } from '../../packages/parley/src/store/rules/task-head.js';
import type { PostgresStorage } from '../../packages/postgres/src/postgres-storage.js';
import { ALICE, acceptance, LEASE, newTask, userMessage } from '../contract/storage/task-play.js';
import { StorageClock } from '../contract/storage/tested-storage.js';
import { PostgresServer } from '../support/servers/postgres-server.js';
import { clockedStorage } from './contract-storage.js';

// The statement that claims turns has its own condition, so that it only reads turns that may be free.

const TASK = { scope: ALICE, id: 't' };
const TURNS = 3;
let server: PostgresServer;
let storage: PostgresStorage;
let admin: pg.Client;
const clock = new StorageClock();
beforeAll(async () => {
  server = await PostgresServer.start('fsync=off');
  const url = await server.newDatabase();
  storage = await clockedStorage(url, clock);
  admin = new pg.Client({ connectionString: url });
  await admin.connect();
  await storage.accept(acceptance(userMessage('1'), newTask({ storage, clock }, 't')));
  for (let turn = 2; turn <= TURNS; turn += 1) await storage.accept(acceptance(userMessage(`${turn}`), 't'));
  await admin.query('CREATE TABLE kept AS SELECT * FROM parley.execution');
});
afterAll(async () => {
  await storage.close();
  await admin.end();
  await server[Symbol.asyncDispose]();
});

/** The head of the task: its turns from `first` on, and the lease on the first of them. */
interface Head {
  readonly epoch: number;
  readonly queue: readonly { readonly turn: number }[];
  readonly holder: Holder | undefined;
}

const now = clock.now();
const anyHead: fc.Arbitrary<Head> = fc
  .record({
    epoch: fc.integer({ min: 1, max: 2 }),
    first: fc.integer({ min: 1, max: TURNS + 1 }),
    lease: fc.option(
      fc.record({ node: fc.constantFrom('here', 'there'), leaseEnd: fc.integer({ min: now - 2, max: now + 2 }) }),
      { nil: undefined, freq: 3 },
    ),
  })
  .map(({ epoch, first, lease }) => ({
    epoch,
    queue: Array.from({ length: TURNS + 1 - first }, (_, at) => ({ turn: first + at })),
    holder: lease && first <= TURNS ? { turn: first, ...lease } : undefined,
  }));
const anyHold: fc.Arbitrary<HeldTurn> = fc.record({
  key: fc.constantFrom(TASK, TASK, TASK, { scope: ALICE, id: 'u' }, { scope: { ...ALICE, owner: null }, id: 't' }),
  turn: fc.integer({ min: 1, max: TURNS }),
  epoch: fc.integer({ min: 1, max: 2 }),
});
const anyHolds = fc.option(fc.array(anyHold, { maxLength: 2 }), { nil: undefined });

/** Writes the head of the task. */
async function put({ epoch, queue, holder }: Head): Promise<void> {
  const first = queue[0]?.turn ?? TURNS + 1;
  await admin.query('DELETE FROM parley.execution');
  await admin.query('INSERT INTO parley.execution SELECT * FROM kept WHERE turn >= $1', [first]);
  await admin.query(
    `UPDATE parley.execution SET ready = $2 AND turn = $1, node = CASE WHEN turn = $1 THEN $3 END,
      lease_end = CASE WHEN turn = $1 THEN $4::bigint ELSE 0 END, epoch = CASE WHEN turn = $1 AND NOT $2 THEN $5 ELSE 0 END`,
    [first, holder === undefined, holder?.node ?? null, holder?.leaseEnd ?? 0, epoch],
  );
  await admin.query('UPDATE parley.task SET epoch = $1, held = $2, queued = $3', [
    epoch,
    holder?.turn ?? 0,
    queue.length,
  ]);
}

/** Reads epoch and holder of the task. */
async function readStored(): Promise<Pick<Head, 'epoch' | 'holder'>> {
  const { rows } = await admin.query(`SELECT t.epoch, e.turn, e.node, e.lease_end FROM parley.task t
    LEFT JOIN parley.execution e ON e.task = t.pk AND e.turn = t.held AND e.epoch = t.epoch`);
  const { epoch, turn, node, lease_end: leaseEnd } = rows[0];
  return { epoch, holder: turn === null ? undefined : { turn, node, leaseEnd: Number(leaseEnd) } };
}

it.each(['of any task', 'of one task'])('a claim %s takes the turn that the rule allows', async (of) => {
  const only = of === 'of one task' ? { task: TASK } : {};
  await fc.assert(
    fc.asyncProperty(anyHead, anyHolds, async (head, holds) => {
      await put(head);
      const [first] = head.queue;
      const request = { ...LEASE, ...only, agents: ['test'], limit: 5, ...(holds && { holds }) };
      const isFree = isClaimable(head, request, { task: TASK, now });
      const { claims } = await storage.claim(request);
      expect(claims.map(({ turn }) => turn)).toEqual(isFree ? [first?.turn] : []);
      const { epoch, holder } = head;
      expect(await readStored()).toEqual(
        isFree && first ? claimedBy(head, first.turn, { lease: LEASE, now }) : { epoch, holder },
      );
    }),
    { numRuns: 150 },
  );
});
