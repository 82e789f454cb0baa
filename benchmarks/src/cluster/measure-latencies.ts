import { stampsIn } from './replica-agent.js';
import { type ArrivedEvent, said } from './replica-client.js';
import type { Replica, Replicas } from './replicas.js';
import { quantile } from './statistics.js';

/** A time in ms: its median and its 99th percentile. */
export interface Latency {
  readonly p50: number;
  readonly p99: number;
}

/** Readers of one task on other replicas. */
export interface FanOut extends Latency {
  readonly readers: number;
  /** Events to readers in a second. */
  readonly perSecond: number;
}

const CANCELS = 20;
const READERS = 100;
const EVENTS = 200;

/** Cancels a waiting agent of one replica through another one. Times from the request to the agent's abort. */
export async function cancelLatency(replicas: Replicas): Promise<Latency> {
  const times: number[] = [];
  for (let count = 0; count < CANCELS; count++) {
    const { id, owner } = await startedTask(replicas, 'idle');
    const told = owner.process.next('told');
    const asked = performance.timeOrigin + performance.now();
    const canceled = replicas.at(replicas.all.indexOf(owner) + 1).client.call('CancelTask', { id });
    const { figures } = await told;
    await canceled;
    times.push((figures.abortedAt ?? Number.NaN) - asked);
  }
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
}

/** Writes events on one replica, and reads them on all others. Times from the agent to each reader. */
export async function fanOut(replicas: Replicas): Promise<FanOut> {
  const { id, owner } = await startedTask(replicas, `fan ${EVENTS}`);
  const others = replicas.all.length === 1 ? replicas.all : replicas.all.filter((one) => one !== owner);
  const readings = Array.from({ length: READERS }, (_, index) =>
    read(others[index % others.length] ?? owner, { id, isOver: completed }),
  );
  await Promise.all(readings.map(({ attached }) => attached));
  const begun = performance.now();
  owner.process.send({ kind: 'go' });
  const read_ = await Promise.all(readings.map(({ events }) => events));
  const seconds = (performance.now() - begun) / 1_000;
  const lags = read_.flat().flatMap(({ text, at }) => stampsIn(text).map((stamp) => at - stamp));
  if (lags.length < READERS * EVENTS) throw new Error(`${lags.length} of ${READERS * EVENTS} events arrived`);
  return { readers: READERS, perSecond: lags.length / seconds, p50: quantile(lags, 0.5), p99: quantile(lags, 0.99) };
}

/** Kills the replica of a resumable turn. Returns the time until a reader elsewhere gets an event of the next one. */
export async function takeover(replicas: Replicas): Promise<number> {
  const { id, owner } = await startedTask(replicas, 'hold');
  const other = replicas.at(replicas.all.indexOf(owner) + 1);
  const { attached, events } = read(other, { id, isOver: completed });
  await attached;
  const killed = performance.timeOrigin + performance.now();
  await owner.process[Symbol.asyncDispose]();
  const arrived = await events;
  const next = arrived.find(({ text }) => stampsIn(text).some((stamp) => stamp > killed));
  if (next === undefined) throw new Error('No other replica has taken over');
  return next.at - killed;
}

/** A task whose agent has written its first events. Its turn runs on the replica that took the message. */
async function startedTask(
  replicas: Replicas,
  text: string,
): Promise<{ readonly id: string; readonly owner: Replica }> {
  const owner = replicas.at(0);
  const answer = await owner.client.call('SendMessage', said(text, { returnImmediately: true }));
  const { id } = (answer as { readonly task: { readonly id: string } }).task;
  const isBegun = async () => JSON.stringify(await owner.client.call('GetTask', { id })).includes('WORKING');
  while (!(await isBegun())) await new Promise((resolve) => setTimeout(resolve, 10));
  return { id, owner };
}

interface Reading {
  /** Settles with the first event. */
  readonly attached: Promise<void>;
  readonly events: Promise<readonly ArrivedEvent[]>;
}

function read(replica: Replica, { id, isOver }: { readonly id: string; isOver(text: string): boolean }): Reading {
  const attached = Promise.withResolvers<void>();
  const events = (async () => {
    const all: ArrivedEvent[] = [];
    for await (const event of replica.client.stream('SubscribeToTask', { id })) {
      all.push(event);
      attached.resolve();
      if (isOver(event.text)) break;
    }
    return all;
  })();
  events.catch(attached.reject);
  return { attached: attached.promise, events };
}

function completed(text: string): boolean {
  return text.includes('TASK_STATE_COMPLETED');
}
