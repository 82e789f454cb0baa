import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Task } from '../../../packages/parley/src/model/task.js';
import type { TaskState } from '../../../packages/parley/src/model/task-state.js';
import type { Claim, HeldTurn } from '../../../packages/parley/src/store/held-turn.js';
import type { DeliveryOutcome, HeldDelivery } from '../../../packages/parley/src/store/push-storage.js';
import type { Scope, TaskKey } from '../../../packages/parley/src/store/task-key.js';
import type { TaskStorage } from '../../../packages/parley/src/store/task-storage.js';
import { LogRecord } from '../../../packages/parley/src/task/log-record.js';
import { acceptance, TaskPlay, userMessage } from './task-play.js';
import type { StorageClock } from './tested-storage.js';

// Two storages must answer the same calls alike. A difference is a fault of one of them or a gap of the contract. Time
// passes with every write, because of two equally old things either may be swept first.

/** Two storages with the same clock. */
export interface StoragePair {
  readonly clock: StorageClock;
  /** The storage in memory. */
  readonly memory: TaskStorage;
  readonly other: TaskStorage;
  /** The second owner of tasks of an agent, besides Alice. Both must lie in one partition of the storage. */
  secondOwner(agent: string): string | null;
}

function plain(answer: unknown): unknown {
  const text = JSON.stringify(answer ?? null, (_, value: unknown) => {
    if (!(value instanceof LogRecord)) return value;
    const { seq, turn, event, history, metadata } = value;
    return { seq, turn, event, history, metadata };
  });
  return JSON.parse(text) as unknown;
}

/** The tasks of one run, under a separate agent. */
class World {
  readonly agent: string;
  readonly clock: StorageClock;
  readonly memory: TaskStorage;
  readonly #pair: StoragePair;
  readonly #second: string | null;
  readonly #turns = new Map<string, { scope: Scope; turn: number; epoch: number }>();
  readonly #deliveries = new Map<string, HeldDelivery>();

  constructor(run: number, pair: StoragePair) {
    this.agent = `agent ${run}`;
    this.clock = pair.clock;
    this.memory = pair.memory;
    this.#pair = pair;
    this.#second = pair.secondOwner(this.agent);
  }

  /** Calls both storages and compares the answers. Returns the answer. */
  async both<R>(ask: (storage: TaskStorage) => Promise<R>): Promise<R | undefined> {
    const [mine, other] = await Promise.all(
      [this.#pair.memory, this.#pair.other].map((storage) =>
        ask(storage).then(
          (answer) => ({ answer, plain: plain(answer) }),
          (error: Error) => ({ answer: undefined, plain: error.name }),
        ),
      ),
    );
    expect(other?.plain).toEqual(mine?.plain);
    return mine?.answer;
  }

  scope(owner: string | null): Scope {
    return { agent: this.agent, tenant: '', owner: owner ?? this.#second };
  }

  /** Returns the key of the last claimed task with this id. */
  key(id: string): TaskKey {
    return { scope: this.#turns.get(id)?.scope ?? this.scope('alice'), id };
  }

  /** Returns the last claimed turn of a task, or an unknown turn. */
  heldTurn(id: string, off: number): HeldTurn {
    const { turn, epoch } = this.#turns.get(id) ?? { turn: 1, epoch: 1 };
    return { key: this.key(id), turn, epoch: epoch - off };
  }

  keepClaim(id: string, claim: Claim | undefined): void {
    if (claim !== undefined) this.#turns.set(id, { scope: claim.scope, turn: claim.turn, epoch: claim.epoch });
  }

  /** Returns the last claimed delivery queue of a task. */
  delivery(id: string, off: number): HeldDelivery {
    const { key, configId, epoch } = this.#deliveries.get(id) ?? { key: this.key(id), configId: 'p0', epoch: 1 };
    return { key, configId, epoch: epoch - off };
  }

  deliveryClaimed({ key, configId, epoch }: HeldDelivery): void {
    this.#deliveries.set(key.id, { key, configId, epoch });
  }

  async readTask(id: string): Promise<{ scope: Scope; task: Task; seq: number } | undefined> {
    return this.memory.task(this.key(id).scope, id);
  }

  /** Compares all reads of the run. */
  async compare(): Promise<void> {
    for (const owner of ['alice', null]) {
      const scope = this.scope(owner);
      for (const orderBy of ['status', 'created'] as const) {
        await this.both((storage) => storage.tasks({ scope, orderBy, limit: 10, artifacts: true, history: true }));
      }
      for (const id of ['t0', 't1', 't2']) {
        await this.both((storage) => storage.task(scope, id));
        await this.both((storage) => storage.records({ scope, id }, 0, 400));
        await this.both((storage) => storage.keys.recall(scope, `key ${id}`));
        await this.both((storage) => storage.push.configs(scope, id, { limit: 10 }));
      }
    }
    await this.both((storage) => storage.abandoned([this.agent], 5, 10));
    await this.both((storage) => storage.push.queues({ agents: [this.agent], limit: 50 }));
  }
}

interface Step {
  readonly name: string;
  run(world: World): Promise<unknown>;
}

const id = fc.constantFrom('t0', 't1', 't2');
const node = fc.constantFrom('n0', 'n1');
const owner = fc.constantFrom(null, 'alice');
const state = fc.constantFrom<TaskState>('TASK_STATE_WORKING', 'TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_COMPLETED');
const age = fc.nat({ max: 30 });
const off = fc.constantFrom(0, 0, 0, 0, 1);
let messages = 0;
const OUTCOMES: readonly DeliveryOutcome[] = [
  { kind: 'delivered', through: 2, status: 200 },
  { kind: 'delivered', through: 2, leaseMs: 8 },
  { kind: 'delivered', through: 99 },
  { kind: 'held', leaseMs: 8 },
  { kind: 'retry', inMs: 3, status: 503 },
  { kind: 'retry', inMs: 0, status: 404, through: 2 },
  { kind: 'park', reason: 'no', status: 410 },
];

function steps<A extends unknown[]>(
  name: string,
  args: { readonly [K in keyof A]: fc.Arbitrary<A[K]> },
  run: (world: World, ...args: A) => Promise<unknown>,
): fc.Arbitrary<Step> {
  return fc.tuple<A>(...args).map((values) => ({
    name: `${name} ${JSON.stringify(values)}`,
    run: (world: World) => run(world, ...values),
  }));
}

const accept = steps(
  'accept',
  [id, owner, node, fc.boolean(), fc.boolean()],
  async (world, taskId, who, by, claims, keyed) => {
    messages += 1;
    world.clock.pass(1);
    const message = userMessage(`m${messages}`);
    const scope = world.scope(who);
    const stored = await world.readTask(taskId);
    const status = { state: 'TASK_STATE_SUBMITTED' as const, timestamp: new Date(world.clock.now()).toISOString() };
    const task = stored ? taskId : { id: taskId, contextId: 'c', status, history: [message] };
    const outcome = await world.both((storage) =>
      storage.accept(
        acceptance(message, task, {
          scope,
          waitingLimit: 2,
          ...(claims && { claim: { node: by, leaseMs: 8 } }),
          ...(keyed && { idempotency: { key: `key ${taskId}`, digest: taskId, ttlMs: 20 } }),
          ...(keyed && { pushConfig: { id: `p${messages % 3}`, url: `https://example.com/${messages % 4}` } }),
        }),
      ),
    );
    if (outcome?.kind === 'accepted') world.keepClaim(taskId, outcome.claim);
  },
);

const append = steps(
  'append',
  [id, fc.option(state), fc.constantFrom('own', 'own', 'own', 'idle', 'force'), off, fc.boolean(), fc.boolean()],
  async (world, taskId, next, authority, behind, withSnapshot, ends) => {
    const stored = await world.readTask(taskId);
    if (stored === undefined) return;
    world.clock.pass(1);
    const held = world.heldTurn(taskId, behind);
    const play = new TaskPlay({ storage: world.memory, clock: world.clock }, { ...stored, ...held });
    const more = {
      authority: authority === 'own' ? held.epoch : (authority as 'idle' | 'force'),
      ...(ends && { endsTurn: held.turn }),
    };
    const draft = play.draft(next === null ? [play.chunk('x')] : [play.chunk('y'), next], more);
    const whole = withSnapshot ? { snapshot: play.whole(draft) } : {};
    await world.both((storage) => storage.append({ ...draft, ...whole }));
  },
);

const anyStep = fc.oneof(
  { weight: 5, arbitrary: accept },
  { weight: 7, arbitrary: append },
  {
    weight: 3,
    arbitrary: steps('claim', [node, fc.nat({ max: 3 }), fc.option(id), fc.option(id)], async (world, ...args) => {
      const [by, limit, only, knows] = args;
      const task = only === null ? {} : { task: world.key(only) };
      const holds = knows === null ? {} : { holds: [world.heldTurn(knows, 0)] };
      const request = { node: by, leaseMs: 8, agents: [world.agent], limit, ...task, ...holds };
      const claimed = await world.both((storage) => storage.claim(request));
      for (const claim of claimed?.claims ?? []) world.keepClaim(claim.task.id, claim);
    }),
  },
  {
    weight: 1,
    arbitrary: steps('renew', [node, off], (world, by, behind) => {
      const turns = ['t0', 't1', 't2'].map((taskId) => world.heldTurn(taskId, behind));
      return world.both((storage) => storage.renew({ node: by, leaseMs: 8, turns }));
    }),
  },
  {
    weight: 1,
    arbitrary: steps(
      'release',
      [id, fc.constantFrom('done' as const, 'again' as const, 'handover' as const, 'unbegun' as const), off],
      (world, taskId, how, behind) =>
        world.both((storage) => storage.release({ ...world.heldTurn(taskId, behind), attempt: 2 }, how)),
    ),
  },
  {
    weight: 1,
    arbitrary: steps('begin', [id, fc.integer({ min: 1, max: 4 }), off], (world, taskId, attempt, behind) =>
      world.both((storage) => storage.begin(world.heldTurn(taskId, behind), attempt)),
    ),
  },
  {
    weight: 1,
    arbitrary: steps('checkpoint', [id, off], (world, taskId, behind) =>
      world.both((storage) => storage.saveCheckpoint(world.heldTurn(taskId, behind), { at: taskId })),
    ),
  },
  {
    weight: 1,
    arbitrary: steps('cancel', [id, owner, fc.constantFrom('a', 'b')], (world, taskId, who, reason) =>
      world.both((storage) => storage.requestCancel(world.scope(who), taskId, { metadata: { [reason]: true } })),
    ),
  },
  {
    weight: 2,
    arbitrary: steps(
      'key',
      [id, owner, node, fc.constantFrom('reserve', 'unreserve', 'remember')],
      (world, taskId, who, by, what) => {
        world.clock.pass(1);
        const scope = world.scope(who);
        const key = { key: `key ${taskId}`, digest: `${by} ${what}`, ttlMs: 20 };
        return world.both<unknown>((storage) => {
          if (what === 'reserve') return storage.keys.reserve(scope, key, { node: by, leaseMs: 8 });
          if (what === 'unreserve') return storage.keys.unreserve(scope, key.key, by);
          return storage.keys.remember(scope, key, userMessage(`reply of ${by}`));
        });
      },
    ),
  },
  {
    weight: 1,
    arbitrary: steps('create', [id, owner, state], (world, taskId, who, first) => {
      world.clock.pass(1);
      const status = { state: first, timestamp: new Date(world.clock.now()).toISOString() };
      return world.both((storage) => storage.create(world.scope(who), { id: taskId, contextId: 'c', status }));
    }),
  },
  {
    weight: 1,
    arbitrary: steps('delete', [id, owner], (world, taskId, who) =>
      world.both((storage) => storage.delete(world.scope(who), taskId)),
    ),
  },
  {
    weight: 2,
    arbitrary: steps('claim deliveries', [node, fc.nat({ max: 3 })], async (world, by, limit) => {
      const request = { node: by, leaseMs: 8, agents: [world.agent], limit, maxBytes: 500 };
      const claimed = await world.both((storage) => storage.push.claim(request));
      for (const claim of claimed?.claims ?? []) world.deliveryClaimed(claim);
    }),
  },
  {
    weight: 3,
    arbitrary: steps('settle', [id, fc.constantFrom(...OUTCOMES), off], (world, taskId, outcome, behind) =>
      world.both((storage) => storage.push.settle(world.delivery(taskId, behind), outcome)),
    ),
  },
  {
    weight: 1,
    arbitrary: steps(
      'delivery',
      [id, fc.constantFrom('replay', 'purge', 'list', 'put', 'delete'), fc.nat({ max: 4 })],
      (world, taskId, what, from) => {
        const { key, configId } = world.delivery(taskId, 0);
        const config = { id: configId, taskId, url: `https://example.com/${from}` };
        return world.both<unknown>((storage) => {
          if (what === 'replay') return storage.push.replay({ key, configId }, from === 0 ? undefined : from);
          if (what === 'purge') return storage.push.purge({ key, configId });
          if (what === 'put') return storage.push.putConfig(key.scope, config, from);
          if (what === 'delete') return storage.push.deleteConfig(key.scope, taskId, configId);
          const standing = from < 2 ? 'parked' : 'pending';
          return storage.push.queues({ agents: [world.agent], standing, limit: 50 });
        });
      },
    ),
  },
  {
    weight: 1,
    arbitrary: steps('sweep', [fc.integer({ min: 1, max: 6 }), age, age], (world, limit, taskRetentionMs, eventLogMs) =>
      world.both((storage) => storage.sweep({ taskRetentionMs, eventLogMs, limit })),
    ),
  },
  {
    weight: 4,
    arbitrary: steps('wait', [fc.constantFrom(1, 4, 8)], async (world, ms) => {
      world.clock.pass(ms);
    }),
  },
);

/** The property that a storage answers any sequence of calls as the storage in memory does. */
export function sameAnswersProperty(name: string, open: () => Promise<StoragePair>, numRuns: number): void {
  it(`${name} answers any sequence of calls as memory does`, async () => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { minLength: 5, maxLength: 60, size: 'max' }), async (script) => {
        run += 1;
        const world = new World(run, await open());
        for (const step of script) await step.run(world);
        await world.compare();
      }),
      { numRuns },
    );
  }, 300_000);
}
