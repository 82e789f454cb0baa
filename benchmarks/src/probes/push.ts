import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Measured, type ProbedServer, prompted } from './probed-server.js';
import { jsonOf } from './subject-client.js';

const TIMES = 3;

/** Measures push notifications of tasks at the same time to a receiver on this machine, per second of CPU time. */
export async function measurePush(
  server: ProbedServer,
  { tasks, chunks }: { tasks: number; chunks: number },
): Promise<Measured> {
  await using receiver = await CountingReceiver.open();
  await deliver(server, receiver, { tasks, chunks });
  const runs: Delivered[] = [];
  for (let time = 0; time < TIMES; time++) runs.push(await deliver(server, receiver, { tasks, chunks }));
  // The minimum, because other work of the machine can only increase a time.
  const micros = Math.min(...runs.map(({ cpuMicros, count }) => cpuMicros / count));
  const rate = Math.max(...runs.map(({ count, seconds }) => count / seconds));
  return {
    value: 1e6 / micros,
    detail: `${micros.toFixed(0)} µs each; ${rate.toFixed(0)}/s; ${tasks} tasks at a time`,
  };
}

/** Number of received notifications, and their cost for the server. */
interface Delivered {
  readonly count: number;
  readonly seconds: number;
  readonly cpuMicros: number;
}

async function deliver(
  server: ProbedServer,
  receiver: CountingReceiver,
  { tasks, chunks }: { tasks: number; chunks: number },
): Promise<Delivered> {
  const before = await server.usage();
  const start = performance.now();
  const done = receiver.expect(tasks);
  const taskPushNotificationConfig = { url: receiver.url };
  const configuration = { returnImmediately: true, taskPushNotificationConfig };
  const sending = Array.from({ length: tasks }, () =>
    jsonOf(server.call('SendMessage', { ...prompted(`push ${chunks}`), configuration })),
  );
  await Promise.all(sending);
  const count = await done;
  const seconds = (performance.now() - start) / 1000;
  if (count < tasks * chunks) throw new Error(`${count} of ${tasks * chunks} notifications came`);
  const after = await server.usage();
  return { count, seconds, cpuMicros: after.cpuMicros - before.cpuMicros };
}

const LAST = Buffer.from('TASK_STATE_COMPLETED');

/** Counts the notifications of a webhook, until all tasks have ended. */
class CountingReceiver implements AsyncDisposable {
  readonly #server: Server;
  #count = 0;
  #left = 0;
  #resolve: (count: number) => void = () => {};

  private constructor() {
    this.#server = createServer((request, response) => {
      let isLast = false;
      request.on('data', (data: Buffer) => {
        isLast ||= data.includes(LAST);
      });
      request.on('end', () => {
        response.writeHead(204).end();
        this.#count += 1;
        if (isLast) this.#left -= 1;
        if (this.#left === 0) this.#resolve(this.#count);
      });
    });
  }

  static async open(): Promise<CountingReceiver> {
    const receiver = new CountingReceiver();
    receiver.#server.listen(0, '127.0.0.1');
    await once(receiver.#server, 'listening');
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  /** Resolves to the count of notifications when so many tasks have ended. */
  expect(tasks: number): Promise<number> {
    this.#count = 0;
    this.#left = tasks;
    return new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
