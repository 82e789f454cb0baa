import type { IncomingMessage } from 'node:http';
import { type Measured, type ProbedServer, prompted } from './probed-server.js';
import { jsonOf } from './subject-client.js';

/**
 * Measures the events that reach the subscribers of one task, per second of CPU time. Not per second: one process that
 * reads as many streams may be slower than the server.
 */
export async function measureFanOut(
  server: ProbedServer,
  { subscribers, events }: { subscribers: number; events: number },
): Promise<Measured> {
  await deliver(server, { subscribers: 50, events });
  const { cpuMicros, seconds } = await deliver(server, { subscribers, events });
  const delivered = subscribers * events;
  return {
    value: delivered / (cpuMicros / 1e6),
    detail: `${(cpuMicros / delivered).toFixed(2)} µs each; ${Math.round(delivered / seconds / 1000)} k/s`,
  };
}

async function deliver(
  server: ProbedServer,
  { subscribers, events }: { subscribers: number; events: number },
): Promise<{ cpuMicros: number; seconds: number }> {
  const { task } = (await jsonOf(
    server.call('SendMessage', { ...prompted(`fan-out ${events}`), configuration: { returnImmediately: true } }),
  )) as { task: { id: string } };
  const streams = await Promise.all(
    Array.from({ length: subscribers }, () => server.call('SubscribeToTask', { id: task.id })),
  );
  const readers = streams.map((stream) => new FrameCount(stream));
  await Promise.all(readers.map(({ begun }) => begun));
  const before = await server.usage();
  const start = performance.now();
  server.go();
  const counts = await Promise.all(readers.map(({ ended }) => ended));
  const seconds = (performance.now() - start) / 1000;
  const after = await server.usage();
  const wrong = counts.find((count) => count !== events);
  if (wrong !== undefined) throw new Error(`a subscriber got ${wrong} of ${events} events`);
  return { cpuMicros: after.cpuMicros - before.cpuMicros, seconds };
}

const EVENT = Buffer.from('"artifactUpdate":');

/** Counts the artifact events of a stream. */
class FrameCount {
  /** When something has come. */
  readonly begun: Promise<void>;
  readonly ended: Promise<number>;

  constructor(stream: IncomingMessage) {
    this.begun = new Promise((resolve) => stream.once('data', () => resolve()));
    this.ended = new Promise((resolve, reject) => {
      let count = 0;
      let rest: Buffer = Buffer.alloc(0);
      stream.on('data', (data: Buffer) => {
        const bytes = rest.length === 0 ? data : Buffer.concat([rest, data]);
        for (let at = bytes.indexOf(EVENT); at >= 0; at = bytes.indexOf(EVENT, at + EVENT.length)) count++;
        // Keeps the end of the bytes, which may be the first part of a split word.
        rest = bytes.subarray(Math.max(0, bytes.length - EVENT.length + 1));
      });
      stream.once('end', () => resolve(count));
      stream.once('error', reject);
    });
  }
}
