import { describe, expect, it } from 'vitest';
import { hostileProcess } from './hostile-process.js';
import { expectUp, OPCODE, PING, RawWebSocket } from './raw-web-socket.js';
import { servedAgent } from './session-world.js';

/** The answers of a session to calls, in their order. The first call of a session authenticates. */
async function answersTo(socketUrl: string, calls: readonly unknown[]): Promise<readonly (readonly unknown[])[]> {
  const raw = await (await RawWebSocket.open(socketUrl)).authenticateSession();
  const answer = (at: number) => raw.messages.find(([, id]) => id === at + 2);
  raw.send(...calls, ...calls.map((_, at) => ['pull', at + 2]));
  await raw.until(() => calls.every((_, at) => answer(at) !== undefined));
  raw.socket.destroy();
  return calls.map((_, at) => answer(at) ?? ['no answer']);
}

/** Names that every object or function of JavaScript has, and names of the library. */
const NAMES = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'valueOf',
  'hasOwnProperty',
  '__defineGetter__',
  '__lookupSetter__',
  'toJSON',
  'then',
  'dup',
  'map',
  'onRpcBroken',
  'call',
  'apply',
  'bind',
  'name',
  'length',
  '#session',
  '',
] as const;

describe('a call of a name that no object of the binding has', () => {
  it.each(NAMES)('"%s" is refused, as a method and as a member of a result', async (name) => {
    const { socketUrl } = await servedAgent();
    const paths = [[name], [name, name], [name, 'constructor'], ['ping', name], ['getTask', name]];
    const called = [0, 1].flatMap((target) => paths.map((path) => ['pipeline', target, path]));
    const calls = called.map((pipeline) => ['push', [...pipeline, [['return process']].map((args) => [args])]]);
    const kinds = (await answersTo(socketUrl, calls)).map(([kind], at) => [called[at], kind]);
    expect(kinds).toEqual(called.map((pipeline) => [pipeline, 'reject']));
    const [[kind, , value] = []] = await answersTo(socketUrl, [['push', ['pipeline', 1, [name]]]]);
    // A member that is no part of the binding is absent.
    expect(kind === 'reject' || JSON.stringify(value) === '["undefined"]').toBe(true);
    await expectUp(socketUrl);
  });
});

describe('a frame that names what its sender does not own', () => {
  it.each([
    ['a negative count', ['release', 1, -1]],
    ['a count of nothing', ['release', 1, 0]],
    ['a part of a count', ['release', 1, 0.5]],
    ['a count beyond all numbers', ['release', 1, 2 ** 53]],
    ['a count that is text', ['release', 1, '1']],
    ['a call by a part of a number', ['pull', 1.5]],
    ['a call by its text', ['pull', '1']],
    ['a call by a list', ['pull', [1]]],
    ['a path of a thousand members', ['push', ['pipeline', 1, Array(1_000).fill('a')]]],
    ['arguments a thousand levels deep', ['push', ['pipeline', 1, ['getTask'], [nestObjects(1_000)]]]],
    ['calls within calls, a thousand deep', ['push', ['pipeline', 1, ['getTask'], [calls(1_000)]]]],
    ['an entry of a prototype', ['push', ['pipeline', '__proto__', ['ping'], []]]],
    ['a write to no pipe', ['stream', ['pipeline', 1, ['write'], [1]]]],
    ['a method of a prototype on a pipe', ['stream', ['pipeline', 0, ['constructor'], []]]],
  ])('%s ends the session', async (_, frame) => {
    const { socketUrl } = await servedAgent();
    const raw = await (await RawWebSocket.open(socketUrl)).authenticateSession();
    raw.send(frame);
    await raw.until(() => raw.code !== undefined);
    expect(raw.code).toBe(1008);
    await expectUp(socketUrl);
  });
});

/** A value that nests. */
function nestObjects(levels: number): unknown {
  return levels === 0 ? 1 : { a: nestObjects(levels - 1) };
}

/** A call whose argument is a call whose argument is a call. */
function calls(levels: number): unknown {
  return levels === 0 ? ['pipeline', 1] : ['pipeline', 1, ['getTask'], [calls(levels - 1)]];
}

describe('a process stays up when a peer', () => {
  const message = (part: object, more: object = {}) => ({
    message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [[part]], ...more },
  });

  it.each<[string, (raw: RawWebSocket) => unknown]>([
    [
      'sends halves of characters',
      (raw) => {
        const text = JSON.stringify(['push', ['pipeline', 1, ['sendMessage'], [message({ text: 'HALF' })]]]);
        raw.frame(OPCODE.text, text.replaceAll('HALF', '\\ud800'));
        const key = JSON.stringify([
          'push',
          ['pipeline', 1, ['sendMessage'], [message({ text: 'x' }, { metadata: { HALF: 'HALF' } })]],
        ]);
        raw.frame(OPCODE.text, key.replaceAll('HALF', '\\udfff'));
        raw.frame(OPCODE.text, '["push",["pipeline",1,["getTask"],[{"id":"\\udead"}]]]');
        raw.frame(OPCODE.text, '["push",["pipeline",1,["\\udead"],[]]]');
        raw.send(['pull', 2], ['pull', 3], ['pull', 4], ['pull', 5]);
      },
    ],
    [
      'writes to a stream after its end',
      (raw) => {
        const write = ['stream', ['pipeline', 2, ['write'], [['bytes', 'AAAA']]]];
        const close = ['stream', ['pipeline', 2, ['close'], []]];
        raw.send(['pipe'], write, close, write, close, ['stream', ['pipeline', 2, ['abort'], [1]]], write);
        const call = message({ raw: ['readable', 2] });
        raw.send(['push', ['pipeline', 1, ['sendMessage'], [call]]], write, write);
      },
    ],
    [
      'lets go of a stream while a call reads it',
      (raw) => {
        const write = ['stream', ['pipeline', 2, ['write'], [['bytes', 'AAAA']]]];
        const call = message({ raw: ['readable', 2] });
        raw.send(['pipe'], ['push', ['pipeline', 1, ['sendMessage'], [call]]], write, ['release', 2, 1]);
      },
    ],
    [
      'answers for objects that it does not own',
      (raw) => {
        for (const id of [-1, 0, 1, 2, 77, -77]) raw.send(['resolve', id, 1], ['reject', id, ['error', 'Error', 'x']]);
      },
    ],
    [
      'uses one function as everything',
      (raw) => {
        const same = ['export', -1];
        raw.send(['push', ['pipeline', 1, ['sendMessage'], [same, same]]]);
        raw.send(['push', ['pipeline', 1, ['task'], [same]]]);
        raw.send(['push', ['pipeline', 0, ['authenticate'], [same]]]);
        raw.send(['push', ['pipeline', 0, ['sendMessage'], [same, same]]]);
        raw.send(['push', ['pipeline', 0, ['sendMessageStreaming'], [same, same, same]]]);
        raw.send(['push', ['pipeline', 0, ['listTasks'], [same]]]);
        raw.send(['pull', 2], ['pull', 3], ['pull', 4], ['pull', 5], ['pull', 6], ['pull', 7]);
        raw.send(['release', -1, 1], ['resolve', -1, 1]);
      },
    ],
    [
      'lets go of everything at once, twice',
      (raw) => {
        for (let id = -3; id <= 3; id++) raw.send(['release', id, 1], ['release', id, 1]);
      },
    ],
    ['ends the session with a reason that is a function', (raw) => raw.send(['abort', ['export', -1]], PING)],
  ])('%s', async (_, attack) => {
    const server = await hostileProcess();
    const raw = await (await RawWebSocket.open(server.socketUrl)).authenticateSession();
    attack(raw);
    raw.send(PING);
    await expectUp(server.socketUrl);
    raw.socket.destroy();
    await expectUp(server.socketUrl);
    expect(server.isUp()).toBe(true);
  });
});
