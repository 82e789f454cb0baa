import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import type { StreamItem } from '../../packages/parley/src/task/stream-item.js';
import { BoundAgent, REST_BASE } from '../../packages/parley/test/bound-agent.js';
import { MemoryRequest } from '../../packages/parley/test/exchange-request.js';
import { settlePromises } from '../../packages/parley/test/manual-clock.js';
import { EVENTS } from '../../packages/parley/test/recording-handler.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const COUNT = 10_000;
const HEADERS = { 'a2a-version': '1.0', 'content-type': 'application/json', accept: 'text/event-stream' };

const requests = {
  'JSON-RPC': () =>
    new MemoryRequest({
      headers: HEADERS,
      body: { jsonrpc: '2.0', id: 1, method: 'SubscribeToTask', params: { id: 't1' } },
    }),
  'HTTP+JSON': () => new MemoryRequest({ url: `${REST_BASE}/tasks/t1:subscribe`, headers: HEADERS }),
} as const;

/** A subscription to a task where nothing happens after its snapshot. */
class SilentStream implements AsyncIterableIterator<StreamItem> {
  static open = 0;
  #told = false;

  constructor() {
    SilentStream.open++;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<StreamItem>> {
    if (this.#told) return new Promise(() => {});
    this.#told = true;
    return Promise.resolve({ value: EVENTS[0] as StreamItem, done: false });
  }

  return(): Promise<IteratorResult<StreamItem>> {
    SilentStream.open--;
    return Promise.resolve({ value: undefined, done: true });
  }
}

describe.each(['JSON-RPC', 'HTTP+JSON'] as const)('streams over %s whose readers go away (Spec §3.5.2)', (binding) => {
  const agent = new BoundAgent();
  agent.handler.behaviours.subscribeToTask = () => new SilentStream();
  const exchange = binding === 'JSON-RPC' ? agent.jsonRpc : agent.rest;

  async function openAndDrop(count: number): Promise<void> {
    for (let done = 0; done < count; done += 500) {
      const answers = await Promise.all(Array.from({ length: 500 }, () => exchange(requests[binding]())));
      const iterators = answers.map(({ body }) => (body as AsyncIterable<string>)[Symbol.asyncIterator]());
      await Promise.all(iterators.map((iterator) => iterator.next()));
      const pending = iterators.map((iterator) => iterator.next());
      expect(SilentStream.open).toBe(500);
      for (const iterator of iterators) void iterator.return?.();
      expect(SilentStream.open).toBe(0);
      await Promise.all(pending);
    }
    agent.handler.calls.length = 0;
  }

  it('leave no source, no timer and no listener', async () => {
    const request = requests[binding]();
    const { body } = await exchange(request);
    const iterator = (body as AsyncIterable<string>)[Symbol.asyncIterator]();
    await iterator.next();
    void iterator.next();
    expect(agent.clock.pendingTimers).toBe(1);
    await iterator.return?.();
    expect(agent.clock.pendingTimers).toBe(0);
    expect(SilentStream.open).toBe(0);
    expect(request.signalMade).toBe(false);
  });

  it(`leave less than 100 bytes each, ${COUNT} of them`, async () => {
    const heap = async (): Promise<number> => {
      await settlePromises();
      collect();
      collect();
      return process.memoryUsage().heapUsed;
    };
    await openAndDrop(COUNT);
    const before = await heap();
    await openAndDrop(COUNT);
    expect((await heap()) - before).toBeLessThan(COUNT * 100);
    expect(agent.clock.pendingTimers).toBe(0);
  });
});
