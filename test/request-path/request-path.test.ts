import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ClientRequest, createServer, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createA2AServer } from '../../packages/parley/src/exports/node.js';
import { MemoryStorage, systemClock } from '../../packages/parley/src/exports/server.js';
import { FeedReader } from '../../packages/parley/src/server/execution/feed-reader.js';
import { TurnWaiter } from '../../packages/parley/src/server/execution/turn-waiter.js';

/** The most functions of the library that may pass a message on between the socket and the storage. */
const MOST_HAND_OFFS = 13;
const SOURCES = fileURLToPath(new URL('../../packages/parley/src/', import.meta.url));
const ARCHITECTURE = fileURLToPath(new URL('../../ARCHITECTURE.md', import.meta.url));
/** These call back the file that called them, and hand nothing on. */
const CALL_BACK = ['runtime/settled', 'exports/runtime'];

/** A function of the library on a stack. */
interface Station {
  /** Path below the sources, without `.ts`. */
  readonly file: string;
  readonly call: string;
}

/** The functions of the library on the stack, the outermost first. If the agent has called some, these alone. */
function stationsNow(): readonly Station[] {
  const all = (new Error('here').stack ?? '').split('\n');
  const agent = all.findIndex((line) => line.includes('agentOfTest'));
  const isOurs = (line: string) => line.includes(SOURCES);
  const inner = agent < 0 ? all : all.slice(0, agent);
  const frames = (inner.some(isOurs) ? inner : all).filter(isOurs).reverse();
  return frames.map((line) => {
    const [, call = '', file = ''] = /^\s+at (?:(.*) \()?(.*?)\.ts:\d+:\d+\)?$/.exec(line) ?? [];
    return { file: file.slice(file.indexOf(SOURCES) + SOURCES.length), call };
  });
}

/** Files in the order in which they are entered. */
function enteredFiles(stations: readonly Station[]): readonly string[] {
  const files = stations.map(({ file }) => file).filter((file) => !CALL_BACK.includes(file));
  return files.filter((file, at) => file !== files[at - 1]);
}

/** The first stack at each port, by the method that was called. */
class Ports {
  readonly #seen = new Map<string, readonly Station[]>();

  /** Notes the stack at a port, unless the port is reached from elsewhere. */
  note(port: string, from: (stations: readonly Station[]) => boolean = (stations) => stations.length > 0): void {
    const stations = stationsNow();
    if (!this.#seen.has(port) && from(stations)) this.#seen.set(port, stations);
  }

  at(port: string): readonly Station[] {
    const stations = this.#seen.get(port);
    if (stations === undefined) throw new Error(`${port} was not reached`);
    return stations;
  }
}

const stackTraceLimit = Error.stackTraceLimit;
const message = new Ports();
const stream = new Ports();
let ports = new Ports();
let intake: readonly Station[] = [];
let intakeOfStream: readonly Station[] = [];

const SSE_STREAM = 'bindings/http/sse-stream';

/** True for stacks that begin in a file or a room, and have a call. */
function isOf(file: string, call = ''): (stations: readonly Station[]) => boolean {
  return (stations) => stations[0]?.file.startsWith(file) === true && stations.some((one) => one.call.includes(call));
}

/** Notes the stack of each call of a method. */
function watch(owner: object, method: string, port: string, from?: (stations: readonly Station[]) => boolean): void {
  const methods = owner as Record<string, (...args: unknown[]) => unknown>;
  const original = methods[method];
  vi.spyOn(methods, method).mockImplementation(function (this: unknown, ...args) {
    ports.note(port, from);
    return original?.apply(this, args);
  });
}

/** The stack of the head up to the function that waits for the body, and the stack of `accept` from there. */
function joinStations(head: readonly Station[], tail: readonly Station[]): readonly Station[] {
  const inHead = (one: Station) => head.findIndex(({ file, call }) => file === one.file && call === one.call);
  // Middlewares wait, too, outside of that function.
  const waiting = tail.findLastIndex((one) => inHead(one) > 0);
  expect(waiting).toBeGreaterThanOrEqual(0);
  const rest = tail.slice(waiting);
  return [...head.slice(0, inHead(rest[0] as Station)), ...rest];
}

/**
 * The files that a later stage enters. The functions of the intake that wait for it are on its stack, too. Outside of
 * them the responder waits for the answer.
 */
function after(earlier: readonly Station[], stations: readonly Station[]): readonly string[] {
  const known = new Set(enteredFiles(earlier));
  const files = enteredFiles(stations);
  const inner = files.slice(files.findIndex((file) => known.has(file)));
  return inner.slice(inner.findIndex((file) => !known.has(file)));
}

/** Sends one message to a real server, and streams another. Each port notes the stack at its first call. */
beforeAll(async () => {
  Error.stackTraceLimit = Number.POSITIVE_INFINITY;
  class NotingStorage extends MemoryStorage {
    override accept(...args: Parameters<MemoryStorage['accept']>): ReturnType<MemoryStorage['accept']> {
      ports.note('accept');
      return super.accept(...args);
    }
    override append(...args: Parameters<MemoryStorage['append']>): ReturnType<MemoryStorage['append']> {
      ports.note('append');
      return super.append(...args);
    }
  }
  watch(
    IncomingMessage.prototype,
    'on',
    'body',
    (stations) => stations.at(-1)?.file.endsWith('/request-body') === true,
  );
  watch(globalThis, 'setImmediate', 'queue', (stations) => stations[0]?.file.endsWith('/turn-events') === true);
  watch(TurnWaiter.prototype, 'offer', 'waiter');
  watch(FeedReader.prototype, 'offer', 'reader');
  watch(FeedReader.prototype, 'next', 'pull', isOf(SSE_STREAM));
  watch(performance, 'now', 'frame', isOf(SSE_STREAM, 'settle'));
  watch(ServerResponse.prototype, 'end', 'end');
  watch(ServerResponse.prototype, 'write', 'write');
  watch(ClientRequest.prototype, 'end', 'post', isOf('push/'));
  const authenticator = {
    challenges: ['Bearer'],
    authenticate: () => ({ kind: 'user', user: { id: 'test|somebody' } }) as const,
  };
  const receiver = createServer((request, response) => request.resume().on('end', () => response.end())).listen(0);
  const agent = {
    execute: async function agentOfTest(_: unknown, events: { artifact(text: string): unknown; complete(): unknown }) {
      ports.note('execute');
      await events.artifact('hello');
      await events.complete();
    },
  };
  const storage = new NotingStorage({ clock: systemClock });
  const server = createA2AServer({ agent, authenticator, storage, push: { allow: ['127.0.0.0/8'] } });
  const { url } = await server.listen(0);
  const webhook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const send = async (method: string, configuration: object) => {
    const told = { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hello' }] };
    const answer = await fetch(`${url}/a2a/jsonrpc`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { message: told, configuration } }),
    });
    expect(await answer.text()).toContain('TASK_STATE_COMPLETED');
  };
  // The first call loads code, such as the gate.
  await send('SendMessage', {});
  ports = message;
  await send('SendMessage', { taskPushNotificationConfig: { url: webhook } });
  await vi.waitFor(() => message.at('post'), 30_000);
  ports = stream;
  await send('SendStreamingMessage', {});
  await server.close();
  receiver.close();
  vi.restoreAllMocks();
  intake = joinStations(message.at('body'), message.at('accept'));
  intakeOfStream = joinStations(stream.at('body'), stream.at('accept'));
});

afterAll(() => {
  Error.stackTraceLimit = stackTraceLimit;
});

/** The files of each list of the map, by the name of the list. */
const measured: Readonly<Record<string, () => readonly string[]>> = {
  Intake: () => enteredFiles(intake),
  Agent: () => after(intake, message.at('execute')),
  Event: () => enteredFiles(message.at('queue')),
  Commit: () => enteredFiles(message.at('append')),
  Feed: () => [...enteredFiles(message.at('waiter')), 'server/execution/turn-waiter'],
  Answer: () => enteredFiles(message.at('end')),
  Reader: () => [...enteredFiles(stream.at('reader')), 'server/execution/feed-reader'],
  Pull: () => [...enteredFiles(stream.at('pull')), 'server/execution/feed-reader'],
  Frame: () => enteredFiles(stream.at('frame')),
  Write: () => enteredFiles(stream.at('write')),
  Delivery: () => enteredFiles(message.at('post')),
};

it(`a message passes ${MOST_HAND_OFFS} functions of the library between the socket and the storage`, () => {
  const told = intake.map(({ file, call }) => `${file} ${call}`).join('\n');
  expect(intake.length, told).toBeLessThanOrEqual(MOST_HAND_OFFS);
  expect(intake.length, told).toBeGreaterThan(5);
});

it('a message enters no file and no room twice on its way to the storage', () => {
  const files = enteredFiles(intake);
  expect(files).toEqual([...new Set(files)]);
  const rooms = files.map((file) => file.split('/')[0]);
  expect(rooms.filter((room, at) => room !== rooms[at - 1])).toEqual(['adapters', 'app', 'bindings', 'server']);
});

it('a streamed message takes the same way to its handler', () => {
  const before = (files: readonly string[]) => files.slice(0, files.indexOf('bindings/http/answer-call') + 1);
  expect(before(enteredFiles(intakeOfStream))).toEqual(before(enteredFiles(intake)));
});

it('a message enters only its turn twice from the socket to the agent and back to the socket', () => {
  const all = ['Intake', 'Agent', 'Event', 'Commit', 'Feed', 'Answer'].flatMap((name) => measured[name]?.() ?? []);
  const files = all.filter((file, at) => file !== all[at - 1]);
  expect(files.filter((file, at) => files.indexOf(file) !== at)).toEqual(['server/execution/turn']);
});

describe('the map of the code', () => {
  const map = readFileSync(ARCHITECTURE, 'utf8');
  const lists = map.matchAll(/^ {4}([A-Z]\w+) +(\w+\/.*\n(?: {14}→.*\n)*)/gm);
  const shown = Object.fromEntries(
    Array.from(lists, ([, name = '', list = '']) => [name, list.split('→').map((file) => file.trim())] as const),
  );

  it('has all lists', () => {
    expect(Object.keys(shown)).toEqual(Object.keys(measured));
    expect(map).toContain(`at most ${MOST_HAND_OFFS} functions`);
  });

  it.each(Object.entries(measured))('%s shows each file that is entered, and none twice', (name, files) => {
    expect(shown[name]).toEqual(files());
    expect(files()).toEqual([...new Set(files())]);
  });
});
