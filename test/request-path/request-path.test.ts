import { readFileSync } from 'node:fs';
import { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createA2AServer } from '../../packages/parley/src/exports/node.js';
import { MemoryStorage, systemClock } from '../../packages/parley/src/exports/server.js';

/** The most functions of the library that may pass a message on between the socket and the storage. */
const MOST_HAND_OFFS = 14;
const SOURCES = fileURLToPath(new URL('../../packages/parley/src/', import.meta.url));
const ARCHITECTURE = fileURLToPath(new URL('../../ARCHITECTURE.md', import.meta.url));

/** A function of the library on a stack. */
interface Station {
  /** Path below the sources, without `.ts`. */
  readonly file: string;
  readonly call: string;
}

/** The functions of the library on a stack, the outermost first. */
function stationsOf(stack: string): readonly Station[] {
  const frames = stack.split('\n').filter((line) => line.includes(SOURCES));
  return frames.reverse().map((line) => {
    const [, call = '', file = ''] = /^\s+at (?:(.*) \()?(.*?)\.ts:\d+:\d+\)?$/.exec(line) ?? [];
    return { file: file.slice(file.indexOf(SOURCES) + SOURCES.length), call };
  });
}

/** Places in the order in which the message enters them. */
function entered(places: readonly string[]): readonly string[] {
  return places.filter((place, at) => place !== places[at - 1]);
}

const stackTraceLimit = Error.stackTraceLimit;
const stacks: string[] = [];
let stations: readonly Station[] = [];

/** Sends one message to a real server. Node.js notes the stack when the body is read, the storage when it is called. */
beforeAll(async () => {
  Error.stackTraceLimit = Number.POSITIVE_INFINITY;
  const note = (port: string) => void stacks.push(new Error(port).stack ?? '');
  class NotingStorage extends MemoryStorage {
    override accept(...args: Parameters<MemoryStorage['accept']>): ReturnType<MemoryStorage['accept']> {
      note('storage');
      return super.accept(...args);
    }
  }
  const authenticator = {
    challenges: ['Bearer'],
    authenticate: () => ({ kind: 'user', user: { id: 'test|somebody' } }) as const,
  };
  const reading = vi.spyOn(IncomingMessage.prototype, 'on').mockImplementation(function (
    this: IncomingMessage,
    ...args
  ) {
    if (args[0] === 'data') note('body');
    Readable.prototype.on.apply(this, args);
    return this;
  });
  const storage = new NotingStorage({ clock: systemClock });
  const server = createA2AServer({ agent: (prompt: string) => prompt, authenticator, storage });
  const { url } = await server.listen(0);
  const params = { message: { messageId: '1', role: 'ROLE_USER', parts: [{ text: 'hello' }] } };
  const answer = await fetch(`${url}/a2a/jsonrpc`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params }),
  });
  expect(await answer.text()).toContain('TASK_STATE_COMPLETED');
  await server.close();
  reading.mockRestore();
  // The second stack begins with the function that waits for the body.
  const [head = [], tail = []] = stacks.map(stationsOf);
  const [joint] = tail;
  const at = head.findIndex(({ file, call }) => file === joint?.file && call === joint.call);
  expect(at).toBeGreaterThan(0);
  stations = [...head.slice(0, at), ...tail];
});

afterAll(() => {
  Error.stackTraceLimit = stackTraceLimit;
});

it(`a message passes ${MOST_HAND_OFFS} functions of the library between the socket and the storage`, () => {
  const told = stations.map(({ file, call }) => `${file} ${call}`).join('\n');
  expect(stations.length, told).toBeLessThanOrEqual(MOST_HAND_OFFS);
  expect(stations.length, told).toBeGreaterThan(5);
});

it('a message enters no file and no room twice', () => {
  const files = entered(stations.map(({ file }) => file));
  expect(files).toEqual([...new Set(files)]);
  const rooms = entered(files.map((file) => file.split('/')[0] ?? ''));
  expect(rooms).toEqual(['adapters', 'app', 'bindings', 'server']);
});

it('the map of the code shows this path', () => {
  const map = readFileSync(ARCHITECTURE, 'utf8');
  const section = map.slice(map.indexOf('## The path of a message'), map.indexOf('## Rooms of the library'));
  const shown = Array.from(section.matchAll(/^ {4}\d+\. {1,2}([\w/-]+)/gm), ([, file]) => file);
  expect(shown).toEqual(entered(stations.map(({ file }) => file)));
});
