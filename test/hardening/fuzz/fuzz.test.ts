import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { AttackedServer } from '../attacked-server.js';
import { BASE, httpJsonBytes, requestBytes } from '../calls.js';
import { readError } from '../error-answer.js';
import { readAnswer } from '../http-answer.js';
import { type FuzzInput, fuzzInput, reduceInput } from './fuzz-input.js';

/** FUZZ_SEED and FUZZ_SECONDS repeat or prolong a run; FUZZ_INPUT plays one input of it alone. */
const { FUZZ_SEED, FUZZ_SECONDS, FUZZ_INPUT, TEST_LONG } = process.env;
/** Every change is tested with the same seed. The long form uses new ones. */
const SEED = Number(FUZZ_SEED ?? (TEST_LONG === undefined ? 1 : Date.now() % 1_000_000_007));
const STORAGES = ['sqlite', 'memory'] as const;
const MS = (Number(FUZZ_SECONDS ?? (TEST_LONG === undefined ? 10 : 1_800)) * 1000) / STORAGES.length;
const AT_ONCE = FUZZ_INPUT === undefined ? 8 : 1;
/** Longest time for a normal call meanwhile, on a busy machine. */
const CANARY_MS = 10_000;
const END_MS = 30_000;
/** Memory of a stored task in a server with tasks in memory. */
const TASK_BYTES = 150_000;
const TIMES = { headersMs: 2_000, requestMs: 2_000, keepAliveMs: 1_000 };
const ALLOWED = [200, 204, 400, 404, 405, 408, 413, 415, 421, 429, 431, 501, 505];
/** The last request: ends the connection after a complete input, and otherwise becomes part of its head or body. */
const LAST = requestBytes('GET', `${BASE}/tasks/last`, undefined, { connection: 'close' });

/** Sends one input. Fails unless all answers are valid and the connection ends. */
async function play(server: AttackedServer, input: FuzzInput): Promise<void> {
  using connection = await server.open();
  for (const piece of input) {
    connection.socket.write(piece);
    if (input.length > 1) await turn();
  }
  connection.socket.write(LAST);
  const ended = connection.untilEnd().then(() => true);
  // Some streams have no end.
  const isOver = await Promise.race([ended, pause(END_MS, false, { ref: false }), streamOnly(connection)]);
  if (!server.alive) throw new Error('the server has died');
  const rest = checkAnswers(connection.bytes);
  if (!isOver) throw new Error(`the connection does not end; after the answers came ${JSON.stringify(rest)}`);
  if (rest !== '' && !rest.includes('text/event-stream')) throw new Error(`an answer breaks off: ${rest}`);
}

/** Resolves once a stream has been open for a while. */
async function streamOnly(connection: { readonly bytes: Buffer; readonly ended: boolean }): Promise<boolean> {
  for (;;) {
    const seen = connection.bytes.length;
    await pause(1_000, undefined, { ref: false });
    if (connection.ended) return true;
    const last = connection.bytes.toString('latin1').split('HTTP/1.1 ').at(-1) ?? '';
    if (connection.bytes.length === seen && last.includes('text/event-stream') && !last.endsWith('\r\n0\r\n\r\n'))
      return true;
  }
}

/** Checks every complete answer. Returns the start of the rest. */
function checkAnswers(bytes: Buffer): string {
  for (let at = 0; at < bytes.length; ) {
    const next = readAnswer(bytes, at, 'POST');
    if (next === undefined) return bytes.subarray(at, at + 400).toString('latin1');
    const { status, text, headers } = next.answer;
    expect(ALLOWED, text.slice(0, 500)).toContain(status);
    const isError = status >= 400 || /^\{"jsonrpc":"2\.0","id":.*?,"error":/.test(text);
    if (isError) readError(next.answer, { echoes: true });
    else if (headers.get('content-type')?.includes('json') === true) JSON.parse(text);
    at = next.end;
  }
  return '';
}

async function failureOf(server: AttackedServer, input: FuzzInput): Promise<string | undefined> {
  try {
    await play(server, input);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function report(server: AttackedServer, seed: number, input: FuzzInput, failure: string): Promise<never> {
  const whole = Buffer.concat(input);
  const fails = async (bytes: Buffer) => server.alive && (await failureOf(server, [bytes])) !== undefined;
  const small = (await fails(whole)) ? await reduceInput(whole, fails, 60) : whole;
  throw new Error(
    `${failure}\nFUZZ_SEED=${SEED} FUZZ_INPUT=${seed} plays it again; reduced to ${small.length} of ${whole.length} bytes:\n` +
      JSON.stringify(small.toString('latin1').slice(0, 20_000)),
  );
}

async function canary(server: AttackedServer): Promise<void> {
  const began = performance.now();
  await server.mustAnswer();
  expect(performance.now() - began, 'a normal call took too long').toBeLessThan(CANARY_MS);
}

async function tasksOf(server: AttackedServer): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const text of ['hello', 'ask', 'chunks 3']) {
    const message = { messageId: text, role: 'ROLE_USER', parts: [{ text }], contextId: 'c1' };
    const answer = await server.answer(httpJsonBytes('POST', '/message:send', { message }));
    ids.push((JSON.parse(answer.text) as { task: { id: string } }).task.id);
  }
  return [...ids, 'none'];
}

describe.each(STORAGES)('with tasks in %s', (storage) => {
  it(`whatever arrives is answered well (FUZZ_SEED=${SEED})`, { timeout: MS + 180_000 }, async () => {
    await using server = await AttackedServer.start({ storage, options: { http: TIMES } });
    const taskIds = await tasksOf(server);
    const before = await server.idleHoldings();
    const deadline = performance.now() + MS;
    let next = FUZZ_INPUT === undefined ? SEED * 1_000_003 : Number(FUZZ_INPUT);
    let played = 0;
    let failed = false;
    const worker = async () => {
      while (!failed && performance.now() < deadline && (FUZZ_INPUT === undefined || played === 0)) {
        const seed = next++;
        const input = fuzzInput(seed, taskIds);
        const failure = await failureOf(server, input);
        if (++played % 100 === 0) await canary(server);
        if (failure === undefined) continue;
        failed = true;
        await report(server, seed, input, failure);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    process.stdout.write(`FUZZ_SEED=${SEED}: ${played} inputs with tasks in ${storage}\n`);
    const stored = storage === 'memory' ? (played * 3 * TASK_BYTES) / 8 / 1024 / 1024 : 0;
    await server.mustBeAsBefore(before, { heapMiB: 24 + stored });
  });
});
