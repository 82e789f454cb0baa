import { clientV0_3HttpJson, clientV0_3JsonRpc } from '../../../packages/parley/src/codec/v0_3/client-codec.js';
import { clientV1_0 } from '../../../packages/parley/src/codec/v1_0/client-codec.js';
import { OPERATION_NAMES, OPERATIONS } from '../../../packages/parley/src/operations/operations.js';
import { Random } from '../../../packages/parley/test/random.js';
import { BINDINGS, callBytes } from '../calls.js';
import { fullRequest } from '../wrong-values.js';
import { encodeChunked, mutatedBytes, mutatedHeaders, mutatedTarget, mutatedValue } from './mutations.js';

/** The bytes for one connection, in pieces. */
export type FuzzInput = readonly Buffer[];

const METHODS = ['GET', 'POST', 'DELETE', 'PUT', 'OPTIONS', 'TRACE', 'PATCH'];
/** Endpoints of a server beside its agents. */
const ORIGIN = ['/', '/healthz', '/readyz', '/metrics'];
const TEXTS = ['hello', 'ask', 'chunks 5', 'large 100000', ''];

/**
 * The input of a seed: one to three requests of any operation, over any binding, in 1.0 or 0.3. Most of them have a
 * fault.
 */
export function fuzzInput(seed: number, taskIds: readonly string[]): FuzzInput {
  const random = new Random(seed);
  if (random.oneIn(30)) return [random.bytes(random.below(400))];
  const requests = Array.from({ length: random.oneIn(4) ? 3 : 1 }, () => fuzzRequest(random, taskIds));
  const bytes = Buffer.concat(requests);
  if (!random.oneIn(3)) return [bytes];
  const cuts = Array.from({ length: 1 + random.below(4) }, () => random.below(bytes.length + 1)).sort((a, b) => a - b);
  return [...cuts, bytes.length].map((cut, at) => bytes.subarray(at === 0 ? 0 : cuts[at - 1], cut));
}

function fuzzRequest(random: Random, taskIds: readonly string[]): Buffer {
  const operation = random.pick(OPERATION_NAMES);
  const binding = random.pick(BINDINGS);
  const old = binding === 'JSON-RPC' ? clientV0_3JsonRpc : clientV0_3HttpJson;
  const codec = operation !== 'listTasks' && random.oneIn(3) ? old : clientV1_0;
  const sound = soundRequest(random, OPERATIONS[operation].request, taskIds);
  let request: Record<string, unknown> = { ...codec.encodeRequest(operation, sound as never) };
  while (random.oneIn(2)) request = mutatedMembers(random, request);
  const call = split(callBytes(operation, binding, request, codec));
  if (random.oneIn(5)) call.body = mutatedBytes(random, call.body);
  // A changed body gets its correct length, because a wrong length is a separate mutation.
  call.headers = call.headers.map((line) => line.replace(/^(content-length: ).*/, `$1${call.body.length}`));
  if (random.oneIn(4)) call.target = mutatedTarget(random, call.target);
  if (random.oneIn(20)) call.target = random.pick(ORIGIN);
  if (random.oneIn(12)) call.method = random.pick(METHODS);
  if (random.oneIn(5)) {
    call.body = encodeChunked(random, call.body);
    call.headers = [...call.headers.filter((line) => !line.startsWith('content-length')), 'transfer-encoding: chunked'];
  }
  while (random.oneIn(4)) call.headers = [...mutatedHeaders(random, call.headers)];
  const head = [`${call.method} ${call.target} HTTP/1.1`, ...call.headers, '', ''].join('\r\n');
  const bytes = Buffer.concat([Buffer.from(head, 'latin1'), call.body]);
  return random.oneIn(8) ? mutatedBytes(random, bytes) : bytes;
}

function soundRequest(random: Random, type: string, taskIds: readonly string[]): Record<string, unknown> {
  const full: Record<string, unknown> = { ...fullRequest(type) };
  for (const name of ['id', 'taskId']) if (name in full && !random.oneIn(4)) full[name] = random.pick(taskIds);
  for (const name of Object.keys(full))
    if (!['message', 'id', 'taskId', 'url'].includes(name) && !random.oneIn(4)) delete full[name];
  if ('message' in full && !random.oneIn(4)) {
    full.message = {
      messageId: `m${random.below(1000)}`,
      role: 'ROLE_USER',
      parts: [{ text: random.pick(TEXTS) }],
      ...(random.oneIn(4) && { taskId: random.pick(taskIds) }),
      ...(random.oneIn(4) && { contextId: random.pick(['c1', 'c2']) }),
    };
  }
  return full;
}

function mutatedMembers(random: Random, request: Record<string, unknown>): Record<string, unknown> {
  const changed = mutatedValue(random, request);
  return typeof changed === 'object' && changed !== null ? { ...changed } : { message: changed };
}

function split(bytes: Buffer) {
  const end = bytes.indexOf('\r\n\r\n');
  const [line = '', ...headers] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const [method = '', target = ''] = line.split(' ');
  return { method, target, headers, body: bytes.subarray(end + 4) };
}

/** A smaller input for which `fails` still holds; gives up after `tries`. */
export async function reduceInput(
  input: Buffer,
  fails: (input: Buffer) => Promise<boolean>,
  tries: number,
): Promise<Buffer> {
  let smallest = input;
  let left = tries;
  for (let size = Math.ceil(input.length / 2); size > 0 && left > 0; size = Math.floor(size / 2)) {
    for (let at = 0; at < smallest.length && left > 0; left--) {
      const shorter = Buffer.concat([smallest.subarray(0, at), smallest.subarray(at + size)]);
      if (await fails(shorter)) smallest = shorter;
      else at += size;
    }
  }
  return smallest;
}
