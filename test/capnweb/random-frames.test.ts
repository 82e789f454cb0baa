import { once } from 'node:events';
import { expect, it } from 'vitest';
import type WebSocket from 'ws';
import { Random } from '../../packages/parley/test/random.js';
import { type HostileProcess, hostileProcess } from './hostile-process.js';
import { HELLO } from './session-world.js';

const SEQUENCES = Number(process.env.TEST_LONG ? 60_000 : 6_000);
const SEED = 20_261_122;
const LANES = 16;

const NAMES = [
  ['ping'], ['authenticate'], ['getAgentCard'], ['sendMessage'], ['sendStreamingMessage'], ['getTask'], ['task'],
  ['subscribeToTask'], ['renew'], ['write'], ['close'], ['abort'], ['watch'], ['view'], ['events'], ['subscription'],
  ['constructor'], ['then'], ['dup'], ['toString'], ['__proto__'], ['a', 'b'], [0], [],
]; // biome-ignore format: one list

/** A random value in the form of frames. */
function value(random: Random, depth = 0): unknown {
  const id = () => random.below(8) - 4;
  const inner = () => value(random, depth + 1);
  const many = () => Array.from({ length: random.below(4) }, inner);
  switch (random.below(depth > 3 ? 6 : 16)) {
    case 0:
      return random.below(1000) - 500;
    case 1:
      return random.pick(['', 'a', 'ROLE_USER', 'TASK_STATE_WORKING', '~x']);
    case 2:
      return random.pick([null, true, false]);
    case 3:
      return ['undefined'];
    case 4:
      return ['bytes', random.bytes(random.below(20)).toString('base64')];
    case 5:
      return ['import', id()];
    case 6:
      return ['export', id()];
    case 7:
      return ['pipeline', id(), random.pick(NAMES)];
    case 8:
      return ['readable', id()];
    case 9:
      return ['error', random.pick(['Error', 'TypeError', 'x']), 'text', null, { reason: inner() }];
    case 10:
      return [many()];
    case 11:
      return { message: { messageId: 'm', role: 'ROLE_USER', parts: [[{ text: 'hi' }]], metadata: { x: inner() } } };
    case 12:
      return { id: inner(), after: inner(), parameters: { 'a2a-version': inner() } };
    case 13:
      return JSON.parse(`{"${random.pick(['constructor', '__proto__', 'toJSON', 'then', '~'])}":1}`);
    case 14:
      return many();
    default:
      return { ...HELLO, credential: inner() };
  }
}

/** A random frame: most are well-formed. */
function frame(random: Random): unknown {
  const id = () => random.below(10) - 4;
  const args = () => Array.from({ length: random.below(3) }, () => value(random));
  switch (random.below(12)) {
    case 0:
      return ['pull', id()];
    case 1:
      return ['release', id(), random.below(3)];
    case 2:
      return ['pipe'];
    case 3:
      return ['stream', ['pipeline', id(), [random.pick(['write', 'close', 'abort'])], args()]];
    case 4:
      return ['resolve', id(), value(random)];
    case 5:
      return ['reject', id(), value(random)];
    case 6:
      return random.oneIn(4) ? ['abort', value(random)] : ['pull', 1];
    case 7:
      return random.oneIn(4) ? value(random) : ['pull', 2];
    default:
      return ['push', ['pipeline', id(), random.pick(NAMES), args()]];
  }
}

/** Sends one random sequence on a connection of its own, and waits until the server has read it. */
async function attack(socket: WebSocket, random: Random): Promise<void> {
  const gone = once(socket, 'close');
  if (random.oneIn(2)) socket.send(JSON.stringify(['push', ['pipeline', 0, ['authenticate'], [HELLO]]]));
  for (let left = random.below(12); left >= 0; left--) socket.send(JSON.stringify(frame(random)));
  if (random.oneIn(8)) return socket.terminate();
  socket.ping();
  await Promise.race([once(socket, 'pong'), gone]);
  socket.terminate();
}

async function answers(server: HostileProcess): Promise<unknown> {
  const socket = await server.socket();
  socket.send(JSON.stringify(['push', ['pipeline', 0, ['ping'], []]]));
  socket.send(JSON.stringify(['pull', 1]));
  const [text] = await once(socket, 'message');
  return JSON.parse(String(text));
}

it(`${SEQUENCES} random sequences of frames neither end the server nor stay in its memory`, async () => {
  const server = await hostileProcess();
  const random = new Random(SEED);
  let left = SEQUENCES;
  const lane = async () => {
    while (left-- > 0) await attack(await server.socket(), random);
  };
  const run = async () => Promise.all(Array.from({ length: LANES }, lane));
  left = SEQUENCES / 4;
  await run();
  const before = await server.heap();
  left = SEQUENCES - SEQUENCES / 4;
  await run();
  expect(await answers(server)).toEqual(['resolve', 1, 'pong']);
  expect(server.isUp()).toBe(true);
  // Tasks that the sequences made stay in memory.
  expect((await server.heap()) - before).toBeLessThan(40_000_000);
}, 300_000);
