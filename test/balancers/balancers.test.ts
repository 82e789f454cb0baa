import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client, connect } from '../../packages/parley/src/exports/client.js';
import { RunningParley } from '../cli/parley.js';
import { MountedAgent } from '../hosts/mounted-agent.js';
import { freePort } from '../support/servers/free-port.js';
import { PostgresServer } from '../support/servers/postgres-server.js';
import { onSteadyMachine } from '../support/standstill.js';
import { BALANCERS, Balancer } from './balancers.js';

const AGENTS = fileURLToPath(new URL('balanced-agents.mjs', import.meta.url));
const DRAIN = '4s';

let database: PostgresServer;
beforeAll(async () => {
  database = await PostgresServer.start();
});
afterAll(() => database[Symbol.asyncDispose]());

class Replica implements AsyncDisposable {
  readonly port: number;
  readonly running: RunningParley;

  private constructor(port: number, running: RunningParley) {
    this.port = port;
    this.running = running;
  }

  static async start(databaseUrl: string, port: number): Promise<Replica> {
    const place = ['--port', String(port), '--database', databaseUrl, '--drain', DRAIN];
    const running = new RunningParley(['serve', AGENTS, ...place], { env: { NODE_OPTIONS: '' } });
    await running.waitForStdout(/^URL: (\S+)$/m);
    return new Replica(port, running);
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.running[Symbol.asyncDispose]();
  }
}

async function replicas(count: number): Promise<readonly Replica[]> {
  const url = await database.newDatabase();
  const started: Replica[] = [];
  for (let number = 0; number < count; number++) started.push(await Replica.start(url, await freePort()));
  return started;
}

const until = async (isTrue: () => Promise<boolean>) => {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 20));
};
const message = (text: string) => ({
  messageId: crypto.randomUUID(),
  role: 'ROLE_USER' as const,
  parts: [{ text }],
});
const statusOf = (url: string) => fetch(url).then(({ status }) => status);

// Each balancer has its own replicas, and waits for its own time-outs.
describe.concurrent.each(BALANCERS)('%s', (name) => {
  let all: readonly Replica[];
  let balancer: Balancer;
  beforeAll(async () => {
    all = await replicas(3);
    balancer = await Balancer.start(
      name,
      all.map(({ port }) => port),
    );
  }, 120_000);
  afterAll(async () => {
    await balancer?.[Symbol.asyncDispose]();
    for (const replica of all) await replica[Symbol.asyncDispose]();
  });

  it.sequential('spreads requests over all replicas, and the card names the balancer', {
    timeout: 60_000,
  }, async () => {
    const mounted = await MountedAgent.at(balancer.url);
    expect(mounted.urlOf('HTTP+JSON')).toBe(`${balancer.url}/a2a/rest`);
    const client = await connect(balancer.url);
    const seen = new Set<string>();
    await until(async () => {
      const answer = await client.ask({ message: message('process') });
      seen.add(JSON.stringify(answer.task?.artifacts?.[0]?.parts));
      return seen.size === 3;
    });
    for (const path of ['/healthz', '/readyz', '/metrics']) expect(await statusOf(balancer.url + path)).toBe(404);
  });

  it.sequential('keeps a silent stream open for longer than its idle time-outs', { timeout: 60_000 }, async () => {
    const agent = (await MountedAgent.at(balancer.url)).over('JSONRPC');
    await onSteadyMachine(async () => {
      const frames: unknown[] = [];
      // Twice the time-outs of the test.
      for await (const frame of agent.stream({ message: message('silent 4500') })) frames.push(agent.event(frame));
      expect(JSON.stringify(frames.at(-1))).toContain('TASK_STATE_COMPLETED');
    });
  });

  it.sequential('drains a replica, and no client sees an error', { timeout: 120_000 }, async () => {
    const [first] = all;
    if (first === undefined) throw new Error('no replica');
    const client = await connect(balancer.url);
    let isOver = false;
    let answered = 0;
    const call = async () => {
      while (!isOver) {
        await client.ask({ message: message('process') });
        answered += 1;
      }
    };
    const callers = [call(), call(), call()];
    const streams = Array.from({ length: 6 }, () => readLongStream(client));
    await until(async () => answered > 10);
    const stopped = first.running.stop();
    // The replica still accepts connections while its probe fails.
    await until(async () => (await statusOf(`${first.url}/readyz`)) === 503);
    expect((await stopped).code).toBe(0);
    const before = answered;
    await until(async () => answered > before + 10);
    isOver = true;
    await Promise.all(callers);
    await Promise.all(streams);
  });

  it.sequential('answers by the other replicas when one is killed, and its streams go on', {
    timeout: 120_000,
  }, async () => {
    const [, second] = all;
    const client = await connect(balancer.url);
    let open = 0;
    const streams = Array.from({ length: 6 }, () => readLongStream(client, () => (open += 1)));
    // No balancer repeats a request that a dying replica has received, because it may have been processed.
    await until(async () => open === 6);
    second?.running.process.kill('SIGKILL');
    for (let count = 0; count < 10; count++) await client.ask({ message: message('process') });
    await Promise.all(streams);
  });
});

/** Streams a long task to its end. Its chunks come in order, and none is missing or comes twice. */
async function readLongStream(client: Client, opened: () => void = () => {}): Promise<void> {
  const chunks: string[] = [];
  let state: string | undefined;
  for await (const event of client.sendStreamingMessage({ message: message('long') })) {
    if (event.task !== undefined) opened();
    if (event.artifactUpdate !== undefined) chunks.push(String(event.artifactUpdate.artifact.name));
    if (event.statusUpdate !== undefined) state = event.statusUpdate.status.state;
  }
  expect(state).toBe('TASK_STATE_COMPLETED');
  expect(chunks).toEqual(chunks.map((_, at) => `chunk-${at}`));
}
