import { once } from 'node:events';
import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished, vi } from 'vitest';
import { EmptyFolder, parley, parleyJson, ServedAgent } from '../cli/parley.js';
import { OtlpReceiver } from './otlp-receiver.js';

const WORDS = 'words that stay private';
const SECRET = 'pl4nted-s3cret-words';
const TRACE = '0af7651916cd43dd8448eb211c80319c';
const TRACEPARENT = `00-${TRACE}-b7ad6b7169203331-01`;
const WAIT = 30_000;
const ECHO = ['serve', '--echo'];

const NOT_SENT = 'warning: spans were not sent: no receiver took them within 2 s; see OTEL_EXPORTER_OTLP_ENDPOINT';

const warningsIn = (stderr: string) => [...(stderr.match(/^warning: .*$/gm) ?? [])];

/** The variables of a user who sends spans to a receiver, and no figures of servers. */
const sendingTo = (url: string) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: new URL(url).origin,
  OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  OTEL_METRICS_EXPORTER: 'none',
});

/** A receiver that behaves badly, or takes another format. */
async function startReceiver(listener: RequestListener): Promise<{ readonly url: string; readonly server: Server }> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

it('a command and its calls are one trace, below TRACEPARENT, and an agent of `serve` goes on with it', async () => {
  await using receiver = await OtlpReceiver.start();
  const env = sendingTo(receiver.url);
  await using agent = await ServedAgent.start(ECHO, { env: { ...env, OTEL_SERVICE_NAME: 'served' } });
  const flags = ['-a', agent.url, '--svc-param', `x-note:${SECRET}`];
  const sent = await parley(['send', WORDS, '--stream', ...flags], { env: { ...env, TRACEPARENT } });
  expect([sent.code, sent.stdout]).toEqual([0, expect.stringContaining(WORDS)]);
  expect(warningsIn(sent.stderr)).toEqual([]);
  await agent.running.stop();
  const spans = receiver.spans.filter(({ traceId }) => traceId === TRACE);
  const findSpan = (name: string, kind: string) => {
    const found = spans.filter((span) => span.name === name && span.kind === kind);
    expect(found, `${name} ${kind}`).toHaveLength(1);
    return found[0] ?? expect.unreachable();
  };
  const command = findSpan('parley send', 'INTERNAL');
  expect(command).toMatchObject({ service: 'parley', parent: 'b7ad6b7169203331', isError: false });
  expect(command.attributes).toEqual({ 'process.executable.name': 'parley', 'process.exit.code': 0 });
  const call = findSpan('SendStreamingMessage', 'CLIENT');
  expect(call).toMatchObject({ service: 'parley', parent: command.spanId });
  const answer = findSpan('SendStreamingMessage', 'SERVER');
  expect(answer).toMatchObject({ service: 'served', parent: call.spanId });
  expect(findSpan('invoke_agent Echo', 'INTERNAL').parent).toBe(answer.spanId);
  for (const kept of [WORDS, SECRET]) expect(receiver.bodies.join('\n')).not.toContain(kept);
  // A log line of the server that is no line of a request.
  expect((await agent.running.ended).stderr).toContain(`"trace_id":"${TRACE}"`);
});

it('a command that fails ends its span with the code of the failure, and says the same as without traces', async () => {
  await using receiver = await OtlpReceiver.start();
  await using agent = await ServedAgent.start(ECHO);
  const get = ['task', 'get', 'unknown', '-a', agent.url];
  const plain = await parley(get);
  const traced = await parley(get, { env: sendingTo(receiver.url) });
  expect(traced).toEqual(plain);
  const command = receiver.spans.find(({ name }) => name === 'parley task get');
  expect([command?.isError, command?.attributes['error.type']]).toEqual([true, 'TaskNotFoundError']);
  const call = receiver.spans.find(({ name, parent }) => name === 'GetTask' && parent === command?.spanId);
  expect(call?.attributes['error.type']).toBe('-32001');
});

it('the default protocol is that of OpenTelemetry, and its log stays out of the result', async () => {
  const bodies: Buffer[] = [];
  const { url } = await startReceiver(async (request, response) => {
    expect(request.headers['content-type']).toBe('application/x-protobuf');
    bodies.push(await buffer(request));
    response.end();
  });
  await using agent = await ServedAgent.start(ECHO);
  const env = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${url}/v1/traces`, OTEL_LOG_LEVEL: 'debug' };
  expect(await parleyJson<object>(['send', 'hello', '-a', agent.url], { env })).toHaveProperty('task');
  expect(Buffer.concat(bodies).includes('SendMessage')).toBe(true);
});

it.each([
  ['OTEL_SDK_DISABLED', 'true'],
  ['OTEL_TRACES_EXPORTER', 'none'],
])('%s=%s sends nothing and asks for nothing', async (name, value) => {
  await using receiver = await OtlpReceiver.start();
  await using agent = await ServedAgent.start(ECHO);
  const send = ['send', 'hello', '-a', agent.url];
  const { code, stderr } = await parley(send, { env: { ...sendingTo(receiver.url), [name]: value } });
  expect([code, warningsIn(stderr)]).toEqual([0, []]);
  expect(receiver.bodies).toEqual([]);
});

it('a receiver that hangs holds a command for a bounded time, and its result stays', async () => {
  const asked = Promise.withResolvers<number>();
  const { url } = await startReceiver(() => asked.resolve(performance.now()));
  await using agent = await ServedAgent.start(ECHO);
  const { code, stdout, stderr } = await parley(['send', 'hello', '-a', agent.url], { env: sendingTo(url) });
  // The start of the command does not count, which is slow on a busy machine. Without the bound, the SDK would wait for
  // 10 s.
  expect(performance.now() - (await asked.promise)).toBeLessThan(9_000);
  expect([code, stdout]).toEqual([0, expect.stringContaining('Echo: hello')]);
  expect(warningsIn(stderr)).toEqual([NOT_SENT]);
});

it('a receiver that is not there is named in one line, and the result stays', async () => {
  const { url, server } = await startReceiver(() => {});
  server.close();
  await using agent = await ServedAgent.start(ECHO);
  const { code, stdout, stderr } = await parley(['send', 'hello', '-a', agent.url], { env: sendingTo(url) });
  expect([code, stdout]).toEqual([0, expect.stringContaining('Echo: hello')]);
  expect(warningsIn(stderr)).toEqual([NOT_SENT]);
});

it('without the SDK one line names the command that installs it, and the call is made', async () => {
  using folder = new EmptyFolder();
  const tool = join(folder.path, 'parley-a2a-cli');
  const own = fileURLToPath(new URL('../../packages/cli', import.meta.url));
  for (const part of ['bin', 'bundle', 'package.json']) cpSync(join(own, part), join(tool, part), { recursive: true });
  const modules = fileURLToPath(new URL('../../node_modules', import.meta.url));
  mkdirSync(join(folder.path, 'node_modules'));
  for (const name of readdirSync(modules).filter((one) => !one.startsWith('@opentelemetry')))
    symlinkSync(join(modules, name), join(folder.path, 'node_modules', name));
  await using agent = await ServedAgent.start(ECHO);
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' };
  const program = join(tool, 'bin/parley.js');
  const { code, stdout, stderr } = await parley(['send', 'hello', '-a', agent.url], { env, program });
  expect([code, stdout]).toEqual([0, expect.stringContaining('Echo: hello')]);
  expect(warningsIn(stderr)).toEqual([
    'warning: OTEL_EXPORTER_OTLP_ENDPOINT asks for traces, which need an SDK: ' +
      'npm install --global @opentelemetry/api @opentelemetry/sdk-node',
  ]);
});

it('an SDK that `node --import` has registered sends the spans', async () => {
  await using receiver = await OtlpReceiver.start();
  await using agent = await ServedAgent.start(ECHO);
  const sdk = new URL('registered-sdk.mjs', import.meta.url).pathname;
  const env = { OTEL_TRACES_EXPORTER: 'otlp', NODE_OPTIONS: `--import=${sdk}`, RECEIVER: receiver.url };
  const { code, stderr } = await parley(['task', 'list', '-a', agent.url], { env });
  expect([code, warningsIn(stderr)]).toEqual([0, []]);
  expect(receiver.spans.map(({ service, name }) => [service, name])).toEqual([
    ['registered', 'ListTasks'],
    ['registered', 'parley task list'],
  ]);
});

it('each worker of `serve` makes spans', async () => {
  await using receiver = await OtlpReceiver.start();
  const env = sendingTo(receiver.url);
  await using agent = await ServedAgent.start([...ECHO, '--workers', '2'], { env });
  await parley(['task', 'list', '-a', agent.url]);
  await agent.running.stop();
  await vi.waitFor(() => expect(receiver.spans.map(({ name }) => name)).toContain('ListTasks'), WAIT);
});

it('the agent of a module that brings its own tracing keeps it', async () => {
  using folder = new EmptyFolder();
  const module = join(folder.path, 'agents.mjs');
  const otel = new URL('../../packages/otel/dist/index.js', import.meta.url).href;
  const text = `import { serverTracing } from '${otel}';
    export default { agents: { '/': { name: 'Own', agent: () => 'done' } }, tracing: serverTracing() };`;
  writeFileSync(module, text);
  await using receiver = await OtlpReceiver.start();
  await using agent = await ServedAgent.start(['serve', module], { env: sendingTo(receiver.url) });
  await parley(['send', 'hello', '-a', agent.url]);
  await agent.running.stop();
  expect(receiver.spans).toEqual([]);
});
