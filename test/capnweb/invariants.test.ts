import { describe, expect, it, onTestFinished } from 'vitest';
import { Random } from '../../packages/parley/test/random.js';
import { HELLO, message, type RemoteFeed, type RemoteTask, servedAgent } from './session-world.js';

const RACES = Number(process.env.TEST_LONG ? 2_000 : 150);
const SEED = 4_711;
const TERMINAL = new Set(['TASK_STATE_COMPLETED', 'TASK_STATE_CANCELED', 'TASK_STATE_FAILED', 'TASK_STATE_REJECTED']);

type Event = {
  readonly task?: { readonly id: string; readonly contextId: string; readonly status: Status };
  readonly statusUpdate?: { readonly taskId: string; readonly contextId: string; readonly status: Status };
  readonly artifactUpdate?: { readonly taskId: string; readonly contextId: string };
};
type Status = { readonly state: string; readonly timestamp: string };
type Item = { readonly seq: number; readonly event: Event; readonly reset?: true };

const statusOf = ({ task, statusUpdate }: Event) => (task ?? statusUpdate)?.status;
const tick = () => new Promise(setImmediate);

/** Reads a feed to its end, or to its error. */
async function read(feed: PromiseLike<RemoteFeed>): Promise<{ readonly items: Item[]; readonly isWhole: boolean }> {
  const items: Item[] = [];
  try {
    for await (const item of (await feed).events) items.push(item as Item);
    return { items, isWhole: true };
  } catch {
    return { items, isWhole: false };
  }
}

/** The rules that every feed keeps, also one that breaks. */
function checkItems({ items, isWhole }: { readonly items: readonly Item[]; readonly isWhole: boolean }): void {
  const names = items.map(({ event }) =>
    JSON.stringify([event.task?.id ?? (event.statusUpdate ?? event.artifactUpdate)?.taskId]),
  );
  expect(new Set(names).size).toBeLessThanOrEqual(1);
  const [first] = items;
  expect(items.map(({ seq }) => seq)).toEqual(items.map((_, at) => (first?.seq ?? 0) + at));
  const states = items.flatMap(({ event }) => statusOf(event) ?? []);
  const times = states.map(({ timestamp }) => timestamp);
  expect(times).toEqual([...times].sort());
  const ends = states.filter(({ state }) => TERMINAL.has(state)).length;
  expect(ends).toBeLessThanOrEqual(1);
  if (ends === 1) expect(TERMINAL.has(statusOf(items.at(-1)?.event ?? {})?.state ?? '')).toBe(true);
  if (isWhole && items.length > 0) expect(ends).toBe(1);
}

describe('the feeds of a task', () => {
  it(`keep their rules in ${RACES} races of readers, cancels and broken connections`, async () => {
    const random = new Random(SEED);
    const { open } = await servedAgent({
      agent: {
        execute: async ({ signal }, events) => {
          await events.working();
          for (let line = random.below(8); line > 0 && !signal.aborted; line--) {
            await events.append('log', `line ${line}`);
            if (random.oneIn(3)) await tick();
          }
          if (!signal.aborted) await events.complete();
        },
      },
    });
    const connections = Array.from({ length: 4 }, () => open());
    let next = 0;
    const race = async () => {
      const sender = connections[0]?.entrance.authenticate(HELLO);
      if (sender === undefined) return;
      const sent = await sender.sendStreamingMessage({ message: message('go') });
      const [mine, copy] = sent.events.tee();
      const reader = copy.getReader();
      const { value } = await reader.read();
      void reader.cancel();
      const { task } = (value as Item).event;
      const all = read(Promise.resolve({ ...sent, events: mine } as RemoteFeed));
      const others = Array.from({ length: 3 }, async () => {
        for (let wait = random.below(6); wait > 0; wait--) await tick();
        const breaks = random.oneIn(6);
        const connection = breaks ? open() : connections[1 + random.below(3)];
        const held = connection?.entrance.authenticate(HELLO).task(task?.id) as RemoteTask;
        const after = random.oneIn(2) ? { after: random.below(3) } : undefined;
        const feed = held.subscribe(after);
        feed.then(undefined, () => {});
        if (breaks) for (let wait = random.below(4); wait > 0; wait--) await tick();
        if (breaks) connection?.socket.terminate();
        else if (random.oneIn(6)) feed.then(({ subscription }) => subscription.close()).then(undefined, () => {});
        return { after, breaks, ...(await read(feed)) };
      });
      if (random.oneIn(3)) {
        for (let wait = random.below(6); wait > 0; wait--) await tick();
        await connections[1]?.entrance
          .authenticate(HELLO)
          .cancelTask({ id: task?.id })
          .then(undefined, () => {});
      }
      const whole = await all;
      // No reader closes the feed of the sender.
      expect(whole.isWhole).toBe(true);
      checkItems(whole);
      expect(whole.items[0]?.seq).toBe(1);
      expect(whole.items.slice(0, 2).map(({ event }) => statusOf(event)?.state)).toEqual([
        'TASK_STATE_SUBMITTED',
        expect.stringMatching(/WORKING|CANCELED/),
      ]);
      for (const { items, after } of await Promise.all(others)) {
        const bySeq = new Map(whole.items.map((item) => [item.seq, item]));
        const [first, ...rest] = items;
        if (first === undefined) continue;
        const seqs = items.map(({ seq }) => seq);
        expect(seqs).toEqual(items.map((_, at) => first.seq + at));
        if (after === undefined) expect(first.event.task).toBeDefined();
        else expect(first.seq).toBe(after.after + 1);
        for (const item of after === undefined ? rest : items) expect(item).toEqual(bySeq.get(item.seq));
      }
      next++;
    };
    onTestFinished(() => void expect(next).toBe(RACES));
    for (let left = RACES; left > 0; left -= 5) await Promise.all(Array.from({ length: 5 }, race));
  }, 120_000);
});
