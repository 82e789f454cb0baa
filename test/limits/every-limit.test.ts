import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { constants } from 'node:http2';
import { connect } from 'node:net';
import { newWebSocketRpcSession } from 'capnweb';
import { expect, it, onTestFinished } from 'vitest';
import { DEFAULT_CONCURRENCY } from '../../packages/parley/src/app/limits/concurrency.js';
import { newPasswordHash } from '../../packages/parley/src/auth/schemes/basic-users.js';
import { DEFAULT_REQUEST_LIMITS } from '../../packages/parley/src/bindings/http/binding-context.js';
import { BasicUsers } from '../../packages/parley/src/exports/auth.js';
import { DEFAULT_ENGINE_LIMITS, type EngineLimits } from '../../packages/parley/src/server/engine-limits.js';
import type { LimitName } from '../../packages/parley/src/telemetry/reached-limit.js';
import { post } from '../../packages/parley/test/raw-connection.js';
import type { RemoteEntrance } from '../capnweb/session-world.js';
import { ANSWER, RawConnection, word } from '../grpc/raw-connection.js';
import {
  callHeaders,
  endOf,
  frame,
  http2Frame,
  rawCall,
  rawSession,
  sendMessageBytes,
  TYPE,
} from '../grpc/raw-http2.js';
import { CONNECTIONS, FURTHER_CONNECTIONS } from './connection-rows.js';
import {
  call,
  caller,
  entrance,
  failed,
  files,
  floodConnection,
  HELLO,
  HOUR,
  logins,
  message,
  type Refusal,
  type Row,
  rawRefusal,
  refusalOf,
  refusedRaw,
  rejectionOf,
  repeatUntilRefused,
  send,
  serveWorld,
  socketTo,
  upload,
  waitForClose,
} from './limit-world.js';

/** The test that reaches a limit which takes a peer of its own. */
interface ShownElsewhere {
  readonly shownBy: string;
}

const EXHAUSTED = 'RESOURCE_EXHAUSTED';
const VIOLATION = 1008;
const CALM = constants.NGHTTP2_ENHANCE_YOUR_CALM;
const OWNERS = ['ada', 'bob', 'eve'] as const;
/** Checked fast, but not as fast as requests arrive. */
const CHEAP = { salt: new Uint8Array(16), iterations: 100_000 };
/** Users by the name that they tell. */
const named = {
  challenges: [],
  authenticate: (credentials: { header(name: string): string | undefined }) => ({
    kind: 'user',
    user: { id: credentials.header('x-user') ?? 'operator' },
  }),
};

const ROWS: Readonly<Record<LimitName, Row | ShownElsewhere>> = {
  address: {
    server: { rateLimit: { perAddress: { requests: 1, windowMs: HOUR } } },
    code: EXHAUSTED,
    reach: (world) => repeatUntilRefused(2, () => send(world, 'hi')),
  },
  principal: {
    server: { rateLimit: { perPrincipal: { requests: 1, windowMs: HOUR } } },
    code: EXHAUSTED,
    reach: (world) => repeatUntilRefused(2, () => send(world, 'hi')),
  },
  agent: {
    code: EXHAUSTED,
    reach: async (world) => ({
      ...refusalOf(await call(world, 'SendMessage', { message: message('out') })),
      limit: 'agent',
    }),
  },
  bodyBytes: {
    server: { limits: { bodyBytes: 1_000 } },
    code: 'PAYLOAD_TOO_LARGE',
    reach: (world) => repeatUntilRefused(1, () => send(world, 'x'.repeat(2_000))),
  },
  bodyMemory: {
    server: { bodyMemory: 100_000 },
    code: EXHAUSTED,
    reach: async (world) => {
      const slow = connect(Number(new URL(world.url).port), '127.0.0.1');
      onTestFinished(() => void slow.destroy());
      const head =
        'POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 200000\r\n\r\n';
      slow.write(`${head}${'x'.repeat(150_000)}`);
      // The oldest of the large bodies goes on; the others wait for it.
      const attempts = [1, 2].map(() => send(world, 'x'.repeat(150_000)));
      return refusalOf(await Promise.race(attempts));
    },
  },
  idLength: {
    code: 'INVALID_PARAMS',
    reach: (world) => repeatUntilRefused(1, () => send(world, 'hi', { contextId: 'x'.repeat(2_000) })),
  },
  jsonDepth: {
    server: { limits: { jsonDepth: 10 } },
    code: 'INVALID_REQUEST',
    reach: (world) =>
      repeatUntilRefused(1, () =>
        send(world, 'hi', { metadata: JSON.parse(`${'{"a":'.repeat(20)}1${'}'.repeat(20)}`) }),
      ),
  },
  jsonItems: {
    server: { limits: { jsonItems: 30 } },
    code: 'INVALID_REQUEST',
    reach: (world) => repeatUntilRefused(1, () => send(world, 'hi', { metadata: { list: new Array(40).fill(0) } })),
  },
  listItems: {
    server: { limits: { listItems: 2 } },
    code: 'INVALID_PARAMS',
    reach: (world) => repeatUntilRefused(1, () => send(world, 'hi', { referenceTaskIds: ['a', 'b', 'c'] })),
  },
  parts: {
    server: { limits: { parts: 1 } },
    code: 'INVALID_PARAMS',
    reach: (world) => repeatUntilRefused(1, () => send(world, 'hi', { parts: [{ text: 'a' }, { text: 'b' }] })),
  },
  maxConfigs: {
    server: { push: { maxConfigs: 1 } },
    code: EXHAUSTED,
    reach: async (world) => {
      const { result } = await send(world, 'hold');
      const url = 'https://receiver.example/hook';
      return repeatUntilRefused(2, () =>
        call(world, 'CreateTaskPushNotificationConfig', { taskId: result?.task?.id, url }),
      );
    },
  },
  maxBytes: { server: files({ maxBytes: 10 }), code: 413, reach: (world) => upload(world, 20) },
  ownerBytes: { server: files({ ownerBytes: 10 }), code: 429, reach: (world) => upload(world, 20) },
  storeBytes: {
    server: { ...files({}, { storeBytes: 9_000 }), authenticator: named },
    code: 429,
    reach: async (world) => {
      let refused: Refusal = { code: 'none' };
      // One owner has at most half of the store.
      for (const owner of OWNERS) refused = await upload(world, 4_500, owner);
      return refused;
    },
  },
  streams: {
    server: { concurrency: { streamsPerCaller: 1 } },
    code: EXHAUSTED,
    reach: (world) => repeatUntilRefused(2, () => call(world, 'SendStreamingMessage', { message: message('hold') })),
  },
  turns: {
    server: { concurrency: { turnsPerCaller: 1 } },
    code: EXHAUSTED,
    reach: (world) => repeatUntilRefused(2, () => send(world, 'hold')),
  },
  waitingMessages: {
    server: { limits: { waitingMessages: 1 } },
    code: EXHAUSTED,
    reach: async (world) => {
      const { result } = await send(world, 'hold');
      return repeatUntilRefused(2, () => send(world, 'more', { taskId: result?.task?.id }));
    },
  },
  maxMessageBytes: {
    grpc: { maxMessageBytes: 1_000 },
    code: EXHAUSTED,
    reach: (world) => failed(caller(world)('x'.repeat(2_000))),
  },
  maxMetadataBytes: {
    grpc: { maxMetadataBytes: 1_000 },
    code: EXHAUSTED,
    reach: ({ port }) =>
      refusedRaw(
        rawCall(rawSession(port), [], { headers: callHeaders('SendMessage', { 'x-large': 'x'.repeat(2_000) }) }),
      ),
  },
  maxCalls: {
    grpc: { maxCalls: 2 },
    code: EXHAUSTED,
    reach: async (world) => {
      const session = rawSession(world.port);
      // Calls that send nothing would make room.
      const begun = frame(Buffer.alloc(1), { length: 100 });
      for (let open = 0; open < 2; open++) rawCall(session, [begun], { open: true });
      await expect.poll(() => failed(caller(world)('out'))).toHaveProperty('limit', 'maxCalls');
      return failed(caller(world)('out'));
    },
  },
  maxStreams: {
    grpc: { maxStreams: 1 },
    server: { authenticator: logins },
    code: EXHAUSTED,
    reach: async (world) => {
      const session = rawSession(world.port);
      const bytes = frame(sendMessageBytes('hi'));
      for (let call = 1; call <= 2; call++) {
        // The server counts the call before for a moment longer, and refuses a call that comes too early.
        const attempts = new Set<ReturnType<typeof rawCall>>();
        await expect
          .poll(() => {
            if (logins.waiting < call) attempts.add(rawCall(session, [bytes]));
            return logins.waiting;
          })
          .toBe(call);
        for (const taken of attempts) taken.close(constants.NGHTTP2_CANCEL);
      }
      let refused: Refusal = { code: 'none' };
      await expect
        .poll(async () => {
          refused = await refusedRaw(rawCall(session, [bytes]));
          return refused.code;
        })
        .toBe(EXHAUSTED);
      return refused;
    },
  },
  maxConnections: {
    grpc: { maxConnections: 1 },
    code: 'closed',
    endsConnection: true,
    reach: async ({ port }) => {
      await once(rawSession(port), 'remoteSettings');
      await endOf(rawSession(port));
      return { code: 'closed' };
    },
  },
  pings: {
    code: 'closed',
    endsConnection: true,
    reach: (world) => floodConnection(world, http2Frame(TYPE.ping, 0, Buffer.alloc(8))),
  },
  settings: {
    code: 'closed',
    endsConnection: true,
    reach: (world) => floodConnection(world, http2Frame(TYPE.settings, 0, Buffer.from([0, 4, 0, 0, 255, 255]))),
  },
  bytesOfNoUse: {
    code: 'closed',
    endsConnection: true,
    reach: async ({ port }) => {
      const connection = new RawConnection(port);
      connection.begin(1);
      const oneByte = http2Frame(ANSWER.window, 1, word(1));
      await connection.flood(Buffer.concat(Array.from({ length: 2_000 }, () => oneByte)));
      return { code: 'closed' };
    },
  },
  resets: {
    code: 'closed',
    endsConnection: true,
    reach: async ({ port }) => {
      const connection = new RawConnection(port);
      for (let stream = 1; !connection.socket.destroyed; stream += 2) {
        connection.begin(stream, { headers: { ':path': '/lf.a2a.v1.A2AService/SendMessage' } });
        connection.write(ANSWER.reset, stream, word(constants.NGHTTP2_CANCEL));
        if (stream % 50 === 1) await new Promise(setImmediate);
      }
      return { code: 'closed' };
    },
  },
  stallMs: {
    grpc: { stallMs: 200 },
    code: constants.NGHTTP2_CANCEL,
    endsConnection: true,
    reach: async ({ port }) => {
      const bytes = frame(sendMessageBytes('long'));
      const stream = rawCall(rawSession(port), [bytes], { headers: callHeaders('SendStreamingMessage') });
      stream.pause();
      await once(stream, 'close').catch(() => {});
      return { code: stream.rstCode ?? 0 };
    },
  },
  waitingBytes: {
    grpc: { waitingBytes: 3_000_000 },
    code: CALM,
    endsConnection: true,
    reach: async ({ port }) => {
      const session = rawSession(port);
      const end = endOf(session);
      for (let call = 0; call < 3; call++) rawCall(session, [frame(sendMessageBytes('long'))]).pause();
      return { code: (await end) ?? 0 };
    },
  },
  connections: {
    sessions: { connectionsPerAddress: 1 },
    code: 429,
    endsConnection: true,
    reach: async (world) => {
      await once(socketTo(world), 'open');
      const [, { statusCode }] = await once(socketTo(world), 'unexpected-response');
      return { code: statusCode };
    },
  },
  runningCalls: {
    sessions: { runningCalls: 1 },
    code: EXHAUSTED,
    reach: async (world) => {
      const ada = entrance(world).authenticate(HELLO);
      ada.sendMessage({ message: message('hold') }).catch(() => {});
      return rejectionOf(ada.listTasks({}));
    },
  },
  feeds: {
    sessions: { feeds: 1 },
    code: EXHAUSTED,
    reach: async (world) => {
      const ada = entrance(world).authenticate(HELLO);
      await ada.sendStreamingMessage({ message: message('hold') });
      return rejectionOf(ada.sendStreamingMessage({ message: message('hold') }));
    },
  },
  frame: {
    server: { limits: { bodyBytes: 100_000 } },
    code: 1009,
    endsConnection: true,
    reach: (world) => waitForClose(world, (write) => write('push', ['pipeline', 0, ['ping'], ['x'.repeat(200_000)]])),
  },
  unreleasedCalls: {
    sessions: { unreleasedCalls: 10 },
    code: VIOLATION,
    endsConnection: true,
    reach: (world) =>
      waitForClose(world, (write) => {
        for (let count = 0; count < 20; count++) write('push', ['pipeline', 0, ['ping'], []]);
      }),
  },
  capabilities: {
    sessions: { capabilities: 5 },
    code: VIOLATION,
    endsConnection: true,
    reach: (world) =>
      waitForClose(world, (write) => {
        write('push', ['pipeline', 0, ['authenticate'], [HELLO]]);
        for (let id = 2; id < 20; id++) {
          write('push', ['pipeline', 1]);
          write('pull', id);
          write('release', id, 1);
        }
      }),
  },
  callbacks: {
    sessions: { callbacks: 2 },
    code: VIOLATION,
    endsConnection: true,
    reach: async (world) => {
      const { result } = await send(world, 'hold');
      const socket = socketTo(world);
      const close = once(socket, 'close');
      const held = (newWebSocketRpcSession(socket as never) as unknown as RemoteEntrance)
        .authenticate(HELLO)
        .task(result?.task?.id);
      for (let count = 0; count < 4; count++) held.watch(() => {}).catch(() => {});
      const [code] = await close;
      return { code };
    },
  },
  files: {
    code: EXHAUSTED,
    reach: async (world) => {
      const ada = entrance(world).authenticate(HELLO);
      const sendFile = () => {
        const raw = new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(10)) });
        return ada.sendMessage({ message: message('', { parts: [{ raw }] }) });
      };
      for (let arriving = 0; arriving < 4; arriving++) sendFile().catch(() => {});
      return rejectionOf(sendFile());
    },
  },
  runningLength: {
    server: { limits: { bodyBytes: 200_000 } },
    sessions: { runningLength: 1 },
    code: VIOLATION,
    endsConnection: true,
    reach: async (world) => {
      const socket = socketTo(world);
      const close = once(socket, 'close');
      const ada = (newWebSocketRpcSession(socket as never) as unknown as RemoteEntrance).authenticate(HELLO);
      await ada.ping();
      for (let call = 0; call < 2; call++) ada.sendMessage({ message: message('x'.repeat(150_000)) }).catch(() => {});
      const [code] = await close;
      return { code };
    },
  },
  authenticateMs: {
    sessions: { authenticateMs: 100 },
    code: 4408,
    endsConnection: true,
    reach: (world) => waitForClose(world, () => {}),
  },
  batchFrames: {
    sessions: { batchFrames: 1 },
    code: 400,
    reach: (world) =>
      rawRefusal(
        world,
        post('/a2a/capnweb', '["abort"]\n["abort"]', { 'content-type': 'application/x-ndjson', connection: 'close' }),
      ),
  },
  ...CONNECTIONS,
  waitingPasswords: {
    server: {
      authenticator: new BasicUsers([{ subject: 'ada', passwordHash: await newPasswordHash('right', CHEAP) }]),
      metrics: { authenticator: logins },
    },
    code: EXHAUSTED,
    reach: async (world) => {
      const attempts = Array.from({ length: 80 }, (_, at) => {
        const authorization = `Basic ${Buffer.from(`ada:wrong-${at}`).toString('base64')}`;
        return send(world, 'hi', {}, { authorization }).then(refusalOf);
      });
      return (await Promise.all(attempts)).find(({ code }) => code === EXHAUSTED) ?? { code: 'none' };
    },
  },
  outboundBytes: { shownBy: 'test/capnweb/shared-limits.test.ts' },
  unconsumedBytes: { shownBy: 'test/capnweb/raw-attacks.test.ts' },
};

it('the tests that are named beside the table set their limit', () => {
  for (const [limit, row] of Object.entries(ROWS)) {
    if ('shownBy' in row) expect(readFileSync(row.shownBy, 'utf8')).toContain(`{ ${limit}:`);
  }
});

const reached = Object.entries(ROWS)
  .flatMap(([limit, row]) => ('reach' in row ? [{ limit, ...row }] : []))
  .concat(FURTHER_CONNECTIONS)
  .map((row) => ({ ...row, name: row.mount === undefined ? row.limit : `${row.limit} on ${row.mount.on}` }));

it.each(reached)('$name has a code, a name, a metric and a line in the log', { timeout: 60_000 }, async (row) => {
  const { limit, code, endsConnection, reach } = row;
  const world = await serveWorld(row);
  expect(await reach(world)).toEqual(endsConnection ? { code } : expect.objectContaining({ code, limit }));
  await expect.poll(world.figures).toMatch(new RegExp(`a2a_server_limits_reached_total\\{limit="${limit}"\\} [1-9]`));
  const lines = world.logger.lines.filter(({ message: text }) => text === 'A limit was reached');
  expect(lines.map(({ fields }) => fields?.limit)).toContain(limit);
});

/** Options whose limit refuses nothing: they bound what is kept, sent or waited for, or they fail the task. */
type Quiet = Exclude<keyof EngineLimits, LimitName>;

const QUIET: Readonly<Record<Quiet, 'time' | 'size' | 'task'>> = {
  cancelGraceMs: 'time',
  storagePatienceMs: 'time',
  turnDeadlineMs: 'task',
  bufferEvents: 'size',
  bufferBytes: 'size',
  overrunEvents: 'task',
  taskBytes: 'task',
  commitDelayMs: 'time',
  snapshotLogBytes: 'size',
  readerBufferBytes: 'size',
  readerStallMs: 'time',
  leaseMs: 'time',
  leaseRenewalMs: 'time',
  fenceMarginMs: 'time',
  lookMs: 'time',
  runningTurns: 'size',
  maxAttempts: 'task',
  waitingExpiryMs: 'task',
  authorizationMs: 'task',
  expiryCheckMs: 'time',
  referenceBytes: 'size',
  listedHistory: 'size',
  pageBytes: 'size',
};

it('the tables have every limit of the options', () => {
  const byCaller = (name: string) => name.replace('PerCaller', '');
  const names = [
    ...Object.keys({ ...DEFAULT_REQUEST_LIMITS, ...DEFAULT_ENGINE_LIMITS }),
    ...Object.keys(DEFAULT_CONCURRENCY).map(byCaller),
  ];
  expect(names.filter((name) => !(name in ROWS) && !(name in QUIET))).toEqual([]);
});
