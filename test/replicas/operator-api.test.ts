import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { Receiver } from '../push/receiver.js';
import { BACKENDS, Cluster } from './backends.js';
import { Replica, type ReplicaOptions } from './replica.js';

const TOKEN = 'token-of-a-launch-0123456789-0123456789';
const LONG = { timeout: 60_000 };
const PATIENCE = { timeout: 20_000, interval: 20 };

interface Listed {
  readonly id: string;
  readonly state: string;
  readonly lease: string;
}

interface Body {
  readonly tasks: readonly Listed[];
  readonly next?: string;
  readonly counts: Readonly<Record<string, number>>;
  readonly records: readonly object[];
  readonly replicas: readonly { readonly isAlive: boolean }[];
  readonly deliveries: readonly { readonly taskId: string; readonly lastStatus: number }[];
}

/** Asks the operator API of a replica. */
async function ask(replica: Replica, path: string, init: RequestInit = {}): Promise<Body> {
  const headers = { 'operator-token': TOKEN, 'content-type': 'application/json' };
  const answer = await fetch(`${replica.url}/operator/v1${path}`, { ...init, headers });
  expect([path, answer.status]).toEqual([path, 200]);
  return (await answer.json()) as Body;
}

/** All tasks, page by page. */
async function listAll(replica: Replica, limit: number): Promise<readonly Listed[]> {
  const tasks: Listed[] = [];
  for (let cursor = ''; ; ) {
    const page = await ask(replica, `/tasks?limit=${limit}${cursor}`);
    tasks.push(...page.tasks);
    if (page.next === undefined) return tasks;
    cursor = `&cursor=${encodeURIComponent(page.next)}`;
  }
}

/** A file, with one process at a time on it. */
class SqliteFile {
  readonly #folder = mkdtempSync(join(tmpdir(), 'parley-operator-'));
  #replica: Replica | undefined;

  async boot(options: ReplicaOptions = {}): Promise<Replica> {
    await this.clear();
    this.#replica = await Replica.start(`sqlite:${join(this.#folder, 'tasks.db')}`, options);
    return this.#replica;
  }

  async clear(): Promise<void> {
    await this.#replica?.[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.clear();
    rmSync(this.#folder, { recursive: true });
  }
}

describe.each(['SQLite', ...Object.keys(BACKENDS)])('the operator API on %s', (backend) => {
  const cluster = backend === 'SQLite' ? new SqliteFile() : new Cluster(backend);
  afterEach(() => cluster.clear());
  afterAll(() => cluster[Symbol.asyncDispose]());

  it('lists, counts, shows, replays and deletes', LONG, async () => {
    await using receiver = await Receiver.open((response) => response.writeHead(410).end());
    // The lease of the idle turn is held also after the machine has stood still.
    const replica = await cluster.boot({ operatorToken: TOKEN, leaseMs: 60_000 });
    const first = await replica.send('echo x', {}, { taskPushNotificationConfig: { id: 'hook', url: receiver.url } });
    const asks = await replica.send('ask');
    const idle = await replica.send('idle', {}, { returnImmediately: true });
    await replica.until(idle.id, 'WORKING');
    const last = await replica.send('echo y');
    for (const limit of [1, 2, 100]) {
      const tasks = (await listAll(replica, limit)).map(({ id, lease }) => [id, lease]);
      expect(tasks).toEqual([
        [asks.id, 'none'],
        [idle.id, 'held'],
        [last.id, 'none'],
        [first.id, 'none'],
      ]);
    }
    const { counts } = await ask(replica, '/counts');
    expect(counts).toEqual({ TASK_STATE_COMPLETED: 2, TASK_STATE_INPUT_REQUIRED: 1, TASK_STATE_WORKING: 1 });
    expect((await ask(replica, `/tasks/${first.id}?agent=/`)).records.length).toBeGreaterThan(1);
    const { replicas } = await ask(replica, '/status');
    expect(replicas.filter(({ isAlive }) => isAlive)).toHaveLength(1);

    const listParked = async () => (await ask(replica, '/deliveries')).deliveries;
    await expect.poll(listParked, PATIENCE).toMatchObject([{ taskId: first.id, lastStatus: 410 }]);
    receiver.answering = (response) => response.writeHead(204).end();
    const queue = { agent: '/', taskId: first.id, configId: 'hook' };
    await ask(replica, '/replays', { method: 'POST', body: JSON.stringify(queue) });
    await expect.poll(listParked, PATIENCE).toEqual([]);

    await ask(replica, `/tasks/${first.id}?agent=/`, { method: 'DELETE' });
    expect((await listAll(replica, 100)).map(({ id }) => id)).toEqual([asks.id, idle.id, last.id]);
    for (const { id } of [asks, last]) await ask(replica, `/tasks/${id}?agent=/`, { method: 'DELETE' });
    await replica.call(`/a2a/rest/tasks/${idle.id}:cancel`, {});
    await replica.until(idle.id, 'CANCELED');
    await ask(replica, `/tasks/${idle.id}?agent=/`, { method: 'DELETE' });
    expect(await listAll(replica, 100)).toEqual([]);
  });

  it('shows a lease that is held, and who takes over after a kill', LONG, async () => {
    const one = await cluster.boot({ operatorToken: TOKEN });
    const { id } = await one.send('idle', {}, { returnImmediately: true });
    await one.until(id, 'WORKING');
    // A replica with as many turns as it may have takes none over.
    const two = backend === 'SQLite' ? undefined : await cluster.boot({ operatorToken: TOKEN, runningTurns: 1 });
    await two?.send('idle', {}, { returnImmediately: true });
    const leaseOf = async (replica: Replica) => (await listAll(replica, 10)).find((task) => task.id === id)?.lease;
    expect(await leaseOf(two ?? one)).toBe('held');
    one.signal('SIGKILL');
    await one.waitForExit();
    if (two !== undefined) {
      await expect.poll(() => leaseOf(two), PATIENCE).toBe('ended');
      expect((await ask(two, '/status')).replicas.some(({ isAlive }) => isAlive)).toBe(true);
    }
    const three = await cluster.boot({ operatorToken: TOKEN });
    await vi.waitFor(() => expect(three.lines).toContain('ran idle attempt 2'), PATIENCE);
    expect(await leaseOf(three)).toBe('held');
  });
});
