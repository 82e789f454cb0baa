import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  request as sendRequest,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { Random } from '../../packages/parley/test/random.js';

/** The fault in one answer. */
type Fault = 'none' | 'pieces' | 'refuse' | 'lose' | 'cut' | 'close' | 'unfinished';

const FAULTS: readonly Fault[] = ['none', 'pieces', 'refuse', 'lose', 'cut', 'cut', 'close', 'close', 'unfinished'];
/** Maximum number of consecutive faults of one caller. */
const MOST_FAULTS = 6;
const GATEWAY_PAGE = '<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>';

const FINAL = /TASK_STATE_(?:COMPLETED|FAILED)[^\n]*\n\n$/;

/** The random faults of one caller. */
interface Caller {
  readonly random: Random;
  inARow: number;
}

/**
 * A proxy that breaks answers in every way of networks and gateways. It cuts connections, closes streams in the middle,
 * holds bytes back, and splits them inside of characters. It also drops the end of the last frame, and answers 502
 * before or after the agent has acted. The seed in the header `x-luck` decides the faults of a caller. Callers without
 * that header have none.
 */
export class BreakingProxy {
  /** Port of the server behind it. */
  target = 0;
  /** Takes the ids out of event streams. */
  readonly #withoutIds: boolean;
  readonly #server: Server;
  readonly #callers = new Map<string, Caller>();
  /** Number of each fault. */
  readonly faults: Record<Fault, number> = { none: 0, pieces: 0, refuse: 0, lose: 0, cut: 0, close: 0, unfinished: 0 };

  constructor({ withoutIds = false } = {}) {
    this.#withoutIds = withoutIds;
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch(() => response.destroy());
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #luck(request: IncomingMessage): { readonly fault: Fault; readonly random: Random } {
    const seed = request.headers['x-luck'];
    if (typeof seed !== 'string') return { fault: 'none', random: new Random(0) };
    const caller = this.#callers.get(seed) ?? { random: new Random(Number(seed)), inARow: 0 };
    this.#callers.set(seed, caller);
    const drawn = caller.random.pick(FAULTS);
    const fault = caller.inARow >= MOST_FAULTS ? 'pieces' : drawn;
    caller.inARow = fault === 'none' || fault === 'pieces' ? 0 : caller.inARow + 1;
    this.faults[fault] += 1;
    return { fault, random: caller.random };
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const { fault, random } = this.#luck(request);
    if (fault === 'refuse') {
      response.writeHead(502, { 'content-type': 'text/html' }).end(GATEWAY_PAGE);
      return;
    }
    const answer = await this.#forward(request, body, response);
    if (fault === 'lose') {
      answer.destroy();
      response.writeHead(502, { 'content-type': 'text/html' }).end(GATEWAY_PAGE);
      return;
    }
    const isStream = answer.headers['content-type']?.includes('event-stream') === true;
    if (!isStream && fault === 'cut') {
      answer.destroy();
      response.destroy();
      return;
    }
    response.writeHead(answer.statusCode ?? 500, answer.headers);
    if (isStream) {
      response.flushHeaders();
      await this.#stream(answer, response, { fault, random });
    } else {
      for await (const chunk of answer) response.write(chunk);
    }
    response.end();
  }

  #forward(request: IncomingMessage, body: Buffer, response: ServerResponse): Promise<IncomingMessage> {
    const { method, url, headers } = request;
    return new Promise((resolve, reject) => {
      const sent = sendRequest({ port: this.target, host: '127.0.0.1', method, path: url, headers }, resolve);
      sent.on('error', reject);
      response.on('close', () => sent.destroy());
      sent.end(body);
    });
  }

  /** Sends the bytes of a stream with a random fault. */
  async #stream(
    answer: IncomingMessage,
    response: ServerResponse,
    { fault, random }: { readonly fault: Fault; readonly random: Random },
  ): Promise<void> {
    let left = fault === 'cut' || fault === 'close' ? random.below(2_000) : Number.POSITIVE_INFINITY;
    for await (const chunk of this.#withoutIds ? withoutIds(answer) : answer) {
      // Drops the blank line after a frame with a final state.
      const isEnd = fault === 'unfinished' && FINAL.test((chunk as Buffer).toString('latin1'));
      const ready = isEnd ? (chunk as Buffer).subarray(0, -1) : (chunk as Buffer);
      for (let at = 0; at < ready.length && left > 0; ) {
        const size = Math.min(left, fault === 'none' ? ready.length : 1 + random.below(60));
        response.write(ready.subarray(at, at + size));
        at += size;
        left -= Math.min(size, left);
        // Separate writes must arrive separately.
        if (fault !== 'none') await setImmediate();
      }
      if (left <= 0) break;
    }
    if (fault === 'cut') response.destroy();
    answer.destroy();
  }
}

/** A stream without the ids of its frames. */
async function* withoutIds(answer: IncomingMessage): AsyncGenerator<Buffer> {
  let rest = '';
  answer.setEncoding('utf8');
  for await (const chunk of answer as AsyncIterable<string>) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    const kept = lines.filter((line) => !line.startsWith('id:'));
    if (kept.length > 0) yield Buffer.from(`${kept.join('\n')}\n`);
  }
  if (rest !== '') yield Buffer.from(rest);
}
