import { createAgentHandler, type ExchangeRequest } from 'parley-a2a/server';
import type { Measured } from './probed-server.js';

/** Members and elements of the largest body, below the default limit. */
const LARGEST = 90_000;
const LONG = 6_000_000;
/** Pairs of a body that is parsed and the same body that is taken in, an odd number. */
const PAIRS = 15;
/** Pairs before them that do not count: the first ones of a shape are compiled while they run. */
const FIRST = 2;

/** The data of a part, in the shapes that bodies may have. */
const SHAPES: { readonly [Name: string]: (items: number) => unknown } = {
  wide: (items) => Object.fromEntries(Array.from({ length: items }, (_, at) => [`k${at}`, at])),
  deep: (items) => Array.from({ length: items / 90 }, () => nested(88)),
  'long strings': () => ['x'.repeat(LONG)],
  'escaped strings': () => ['"\\\n'.repeat(LONG / 3)],
  'many small objects': (items) => Array.from({ length: items / 3 }, (_, at) => ({ a: at, b: 'x' })),
};

function nested(depth: number): unknown {
  return depth === 0 ? 0 : { a: nested(depth - 1) };
}

/** A request with a body in memory. */
class BodyRequest implements ExchangeRequest {
  readonly method = 'POST';
  readonly path = '/a2a/jsonrpc';
  readonly query = '';
  readonly peer = '127.0.0.1';
  readonly signal = new AbortController().signal;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  header(name: string): string | undefined {
    if (name === 'a2a-version') return '1.0';
    return name === 'content-type' ? 'application/json' : undefined;
  }

  async body(): Promise<Uint8Array> {
    return this.#bytes;
  }
}

/**
 * The CPU time of a SendMessage from its bytes to the accepted message, against `JSON.parse` of its text. Medians of
 * interleaved pairs, by shape. All passes of the server count: decoding, limits, parse, validator, hash of idempotent
 * sends, storage in memory. The answer has no history, so that it is small.
 */
export async function bodyRatios(items = LARGEST): Promise<Readonly<Record<string, number>>> {
  const agent = { execute: () => new Promise<void>(() => {}) };
  const url = 'http://127.0.0.1:3000';
  const host = createAgentHandler({ name: 'Bodies', url, agent, idempotency: { anonymous: true } });
  const ratios: Record<string, number> = {};
  let id = 0;
  for (const [shape, dataOf] of Object.entries(SHAPES)) {
    const data = dataOf(items);
    const measured: number[] = [];
    for (let pair = -FIRST; pair < PAIRS; pair += 1) {
      const message = { messageId: `m${id++}`, role: 'ROLE_USER', parts: [{ data }] };
      const params = { configuration: { returnImmediately: true, historyLength: 0 }, message };
      const text = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params });
      const request = new BodyRequest(new TextEncoder().encode(text));
      const parsedMs = await cpuMs(async () => void JSON.parse(text));
      const takenMs = await cpuMs(async () => {
        const { status } = await host.exchange(request);
        if (status !== 200) throw new Error(`A body was answered with ${status}`);
      });
      if (pair >= 0) measured.push(takenMs / parsedMs);
    }
    ratios[shape] = measured.sort((left, right) => left - right)[PAIRS >> 1] ?? Number.NaN;
  }
  void host.close({ graceMs: 0 });
  return ratios;
}

async function cpuMs(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** The ratio of the worst shape. */
export async function measureBodies(): Promise<Measured> {
  const ratios = Object.entries(await bodyRatios());
  const detail = ratios.map(([shape, ratio]) => `${shape} ${ratio.toFixed(1)}`).join(', ');
  return { value: Math.max(...ratios.map(([, ratio]) => ratio)), detail };
}
