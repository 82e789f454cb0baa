import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { context, trace } from '@opentelemetry/api';
import { connect } from 'parley-a2a/client';
import { answerApprovals } from 'parley-a2a/tools';
import { clientTracing } from 'parley-a2a-otel';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { Replica } from '../replicas/replica.js';
import { PostgresServer } from '../support/servers/postgres-server.js';
import { courseFaults, type ExpectedCourse } from './course-checker.js';
import { OtlpReceiver, type ReceivedSpan } from './otlp-receiver.js';
import { exportSpans } from './span-export.js';
import { tracedWebhook } from './traced-webhook.js';

const SECRET = 'pl4nted-s3cret-words';
const TOKEN = 'pl4nted-t0ken';
const WAIT = { timeout: 30_000, interval: 50 };

/** The expected spans. Those that planner-2 has made for the dead planner-1 contain the reason. */
const EXPECTED: ExpectedCourse = {
  secrets: [SECRET, TOKEN],
  client: 'client',
  edges: [
    'client client SendMessage begins',
    'client client SendStreamingMessage error begins',
    'planner-1 client SendStreamingMessage < planner-1 internal execute_tool write',
    'planner-1 internal execute_tool lookup < planner-2 internal invoke_agent Planner 1 run error',
    'planner-1 internal execute_tool write < planner-2 internal invoke_agent Planner 1 run error',
    'planner-2 internal invoke_agent Planner 1 run error < planner-2 server SendStreamingMessage Planner lost error',
    'planner-2 internal invoke_agent Planner 2 INPUT_REQUIRED ~before~ planner-2 internal invoke_agent Planner 1 run error',
    'planner-2 internal invoke_agent Planner 2 INPUT_REQUIRED ~cause~ planner-2 server SendStreamingMessage Planner lost error',
    'planner-2 server SendStreamingMessage Planner lost error < client client SendStreamingMessage error',
    'planner-3 internal execute_tool publish < planner-3 internal invoke_agent Planner 1 COMPLETED',
    'planner-3 internal invoke_agent Planner 1 COMPLETED < planner-3 server SendMessage Planner',
    'planner-3 internal invoke_agent Planner 1 COMPLETED ~before~ planner-2 internal invoke_agent Planner 2 INPUT_REQUIRED',
    'planner-3 server SendMessage Planner < client client SendMessage',
    'planner-1 client GetTask < planner-1 internal execute_tool write',
    'writers client GetTask < writers internal invoke_agent Writer 1 COMPLETED',
    'writers client SendStreamingMessage < writers internal invoke_agent Writer 1 COMPLETED',
    'writers internal invoke_agent Reader 1 COMPLETED < writers server SendStreamingMessage Reader',
    'writers internal invoke_agent Writer 1 COMPLETED < writers server SendStreamingMessage Writer',
    'writers server SendStreamingMessage Writer < planner-1 client SendStreamingMessage',
    'writers server SendStreamingMessage Reader < writers client SendStreamingMessage',
  ],
};

let receiver: OtlpReceiver;
let database: PostgresServer;
let webhook: Server;
let provider: ReturnType<typeof exportSpans>;
let spans: readonly ReceivedSpan[];
/** The requests to the webhook so far. */
let notifications = 0;
const replicas: Replica[] = [];

beforeAll(async () => {
  [receiver, database] = await Promise.all([OtlpReceiver.start(), PostgresServer.start()]);
  provider = exportSpans('client', receiver.url);
  webhook = createServer(tracedWebhook(2));
  webhook.on('request', () => {
    notifications += 1;
  });
  webhook.listen(0, '127.0.0.1');
  await vi.waitFor(() => expect(webhook.listening).toBe(true), WAIT);
  spans = await story();
}, 120_000);
afterAll(async () => {
  await Promise.all(replicas.map((replica) => replica[Symbol.asyncDispose]()));
  webhook?.close();
  await provider?.shutdown();
  await Promise.all([receiver?.[Symbol.asyncDispose](), database?.[Symbol.asyncDispose]()]);
  context.disable();
  trace.disable();
});

async function boot(program: string, place: string, settings: object): Promise<Replica> {
  const replica = await Replica.start(place, { program: new URL(program, import.meta.url).href, settings });
  replicas.push(replica);
  return replica;
}

async function stop(replica: Replica): Promise<void> {
  replica.signal('SIGTERM');
  await replica.waitForExit();
}

/** A crash in the middle of a turn, then a question, then a restart of all, then the answer. */
async function story(): Promise<readonly ReceivedSpan[]> {
  const otlp = receiver.url;
  const writers = await boot('writers.mjs', otlp, { secret: SECRET });
  const planner = (name: string) =>
    boot('planner.mjs', database.url, { otlp, writers: writers.url, secret: SECRET, name });
  const [first, second] = [await planner('planner-1'), await planner('planner-2')];
  const interceptors = [clientTracing()];
  const options = { interceptors, resume: { attempts: 0 } };
  const client = await connect(first.url, options);
  const url = `http://127.0.0.1:${(webhook.address() as AddressInfo).port}/hook?key=${TOKEN}`;
  const taskPushNotificationConfig = { id: 'hook', url, token: TOKEN };
  const said = { messageId: crypto.randomUUID(), role: 'ROLE_USER' as const, parts: [{ text: `plan ${SECRET}` }] };
  const stream = client.sendStreamingMessage({ message: said, configuration: { taskPushNotificationConfig } });
  const broken = (async () => {
    for await (const _ of stream);
  })().catch(() => 'broken');
  await vi.waitFor(() => expect(first.lines).toContain('stopped'), WAIT);
  await waitForDelivery();
  await waitForSpans('planner-1');
  first.signal('SIGKILL');
  expect(await broken).toBe('broken');
  const id = stream.taskId ?? expect.unreachable();
  const other = await connect(second.url, options);
  const asked = await other.waitFor(id, { until: 'input' });
  expect(asked.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
  await waitForDelivery();
  await Promise.all([stop(second), stop(writers)]);
  const third = await planner('planner-3');
  const last = await connect(third.url, options);
  const { task } = await last.sendMessage({ message: answerApprovals(await last.getTask(id), 'approve') });
  expect(task?.status.state).toBe('TASK_STATE_COMPLETED');
  await waitForDelivery();
  await stop(third);
  await Promise.all([client, other, last].map((one) => one.close()));
  await provider.forceFlush();
  return [...receiver.spans];
}

/** Resolves when all notifications are delivered and settled. */
async function waitForDelivery(): Promise<void> {
  const sql = new Client({ connectionString: database.url });
  await sql.connect();
  await vi.waitFor(async () => {
    const { rows } = await sql.query('SELECT due, node FROM parley.push_config');
    expect(rows).toEqual([{ due: null, node: null }]);
  }, WAIT);
  await sql.end();
}

/** Resolves when a planner whose turn has stopped has sent all spans that have ended. A kill would take the rest. */
async function waitForSpans(planner: string): Promise<void> {
  await vi.waitFor(() => {
    const names = receiver.spans.filter(({ service }) => service === planner).map(({ name }) => name);
    const calls = ['execute_tool lookup', 'execute_tool write', 'SendStreamingMessage', 'GetTask'];
    expect(names).toEqual(expect.arrayContaining(calls));
    // Any planner may deliver.
    expect(receiver.spans.filter(({ name }) => name === 'send push_notification')).toHaveLength(notifications);
  }, WAIT);
}

it('the spans alone tell the whole course', () => {
  expect(courseFaults(spans, EXPECTED)).toEqual([]);
  expect(spans.filter(({ name }) => name === 'webhook').filter(({ isError }) => isError)).toHaveLength(2);
});

const isStandIn = (attributes: ReceivedSpan['attributes'], parent: string | undefined) =>
  parent !== undefined && attributes['parley.lost.span_id'] === parent;

/** The same spans with one of them changed, or without it. */
const changeSpan = (at: number, change: Partial<ReceivedSpan> | undefined) =>
  spans.flatMap((span, index) => (index !== at ? [span] : change === undefined ? [] : [{ ...span, ...change }]));

const CHANGES: Readonly<
  Record<string, (span: ReceivedSpan, at: number) => readonly (Partial<ReceivedSpan> | undefined)[]>
> = {
  'a lost span': () => [undefined],
  'a removed link': ({ links }) => links.map((_, at) => ({ links: links.toSpliced(at, 1) })),
  'a wrong parent': ({ parent }, at) =>
    [...spans.slice(at + 1), ...spans.slice(0, at)]
      // The span that stands for the parent is no wrong one.
      .filter(({ spanId, attributes }) => spanId !== parent && !isStandIn(attributes, parent))
      .slice(0, 12)
      .map(({ spanId }) => ({ parent: spanId })),
  'a lost parent': ({ parent }) => (parent === undefined ? [] : [{ parent: undefined }]),
  'a leaked word': ({ text }) => [SECRET, TOKEN].map((word) => ({ text: `${text}${word}` })),
  'a time before that of the parent': ({ parent, start }) => (parent === undefined ? [] : [{ start: start - 600_000 }]),
  'an end before the start': ({ start }) => [{ end: start - 1 }],
};

it.each(Object.keys(CHANGES))('the checker finds %s, at each span', (kind) => {
  const changes = spans.flatMap((span, at) =>
    (CHANGES[kind]?.(span, at) ?? []).map((change) => ({ span, at, change })),
  );
  expect(changes.length).toBeGreaterThan(5);
  const unseen = changes.filter(({ at, change }) => courseFaults(changeSpan(at, change), EXPECTED).length === 0);
  expect(unseen.map(({ span, change }) => [span.service, span.kind, span.name, change])).toEqual([]);
});
