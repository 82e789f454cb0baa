import { randomUUID } from 'node:crypto';
import type { JsonObject } from '@bufbuild/protobuf';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { FILES, GrpcTester } from '../grpc/grpc-world.js';
import { type Received, Receiver, seqOf } from '../push/receiver.js';
import { ExampleServer } from './example-server.js';
import { type Body, reasonOf, sendParams, Wire, type WireRequest } from './wire.js';

const TOKEN = 'pl4nted-s3cret-token';
const EVENTS_OF_1_0 = ['task', 'statusUpdate', 'artifactUpdate', 'statusUpdate'];
/** Before 1.0 each event brings the task as it stood then. */
const STATES_BEFORE_1_0 = ['submitted', 'working', 'working', 'completed'];

let server: ExampleServer;
let wire: Wire;
beforeAll(async () => {
  server = await ExampleServer.start();
  wire = new Wire(server.url);
});
afterAll(() => server[Symbol.asyncDispose]());

/** A caller that sends a message together with a webhook. */
interface PushingCaller {
  readonly mount: string;
  readonly version: '1.0' | '0.3' | '0.2.5';
  readonly binding: 'JSON-RPC' | 'HTTP+JSON' | 'gRPC';
  /** Of the call, below the server; for gRPC the service. */
  readonly path: string;
}

const CALLERS: readonly PushingCaller[] = [
  { mount: '/', version: '1.0', binding: 'JSON-RPC', path: '/a2a/jsonrpc' },
  { mount: '/', version: '1.0', binding: 'HTTP+JSON', path: '/a2a/rest/message:send' },
  { mount: '/', version: '0.3', binding: 'JSON-RPC', path: '/a2a/jsonrpc' },
  { mount: '/', version: '0.3', binding: 'HTTP+JSON', path: '/a2a/rest/v1/message:send' },
  { mount: '/', version: '1.0', binding: 'gRPC', path: 'lf.a2a.v1.A2AService' },
  { mount: '/', version: '0.3', binding: 'gRPC', path: 'a2a.v1.A2AService' },
  { mount: '/tck', version: '1.0', binding: 'JSON-RPC', path: '/tck' },
  { mount: '/tck', version: '1.0', binding: 'HTTP+JSON', path: '/tck/message:send' },
  { mount: '/tck', version: '1.0', binding: 'gRPC', path: 'lf.a2a.v1.A2AService' },
  { mount: '/hello', version: '1.0', binding: 'JSON-RPC', path: '/hello' },
  { mount: '/hello', version: '1.0', binding: 'HTTP+JSON', path: '/hello/message:send' },
  { mount: '/hello', version: '0.2.5', binding: 'JSON-RPC', path: '/hello' },
  { mount: '/hello', version: '0.2.5', binding: 'HTTP+JSON', path: '/hello/v1/message:send' },
  { mount: '/hello', version: '0.2.5', binding: 'JSON-RPC', path: '/communicate' },
];

/** A webhook as callers of 1.0 and before spell it. */
type Webhook = Readonly<{ url: string; token?: string }>;

/** The message and the webhook in the spelling of the caller. */
function requestOf({ version, binding }: PushingCaller, webhook: Webhook): object {
  const messageId = `tck-stream-artifact-text-${randomUUID()}`;
  if (version === '1.0') {
    return { ...sendParams('hello', { messageId }), configuration: { taskPushNotificationConfig: webhook } };
  }
  if (binding !== 'JSON-RPC') {
    const message = { messageId, role: 'ROLE_USER', content: [{ text: 'hello' }] };
    const configuration = { pushNotification: webhook, blocking: true };
    const isRenamed = version === '0.2.5' || binding === 'gRPC';
    return isRenamed ? { request: message, configuration } : { message, configuration };
  }
  const message = { kind: 'message', messageId, role: 'user', parts: [{ kind: 'text', text: 'hello' }] };
  return { message, configuration: { acceptedOutputModes: ['text/plain'], pushNotificationConfig: webhook } };
}

/** Sends the message; resolves to the task of the answer. */
async function send(caller: PushingCaller, webhook: Webhook): Promise<Body> {
  const { version, binding, path } = caller;
  const body = requestOf(caller, webhook);
  if (binding === 'gRPC') {
    const file = version === '1.0' ? FILES.current : FILES.legacy;
    expect(file.services[0]?.typeName).toBe(path);
    const { value } = await new GrpcTester(await grpcAddress(caller), { file }).call('SendMessage', body as JsonObject);
    return (value as Body).task as Body;
  }
  const request: WireRequest = version === '1.0' ? {} : { unversioned: true };
  if (binding === 'HTTP+JSON') return (await wire.send(path, { ...request, body })).body.task as Body;
  const answer = await wire.rpc(path, version === '1.0' ? 'SendMessage' : 'message/send', body, request);
  const result = answer.body.result as Body;
  return (result.task ?? result) as Body;
}

const cardOf = async (mount: string) =>
  (await wire.send(`${mount.replace(/\/$/, '')}/.well-known/agent-card.json`)).body;

/** The address of gRPC, from the card of the mount. */
async function grpcAddress({ mount, version }: PushingCaller): Promise<string> {
  const interfaces = (await cardOf(mount)).supportedInterfaces as readonly Body[];
  const found = interfaces.find((one) => one.protocolBinding === 'GRPC' && one.protocolVersion === version);
  return String(found?.url).replace('http://', '');
}

const eventOf = ({ body }: Received) => Object.keys(body)[0];
const stateOf = ({ body }: Received) => (body as { status: { state: string } }).status.state;

it.each(CALLERS)(
  '$mount delivers every event in order to the webhook of a message in $version over $binding at $path',
  async (caller) => {
    expect((await cardOf(caller.mount)).capabilities).toMatchObject({ pushNotifications: true });
    await using receiver = await Receiver.open();
    const { id } = await send(caller, { url: receiver.url, token: TOKEN });
    const received = await receiver.has((all) => all.length >= 4);
    expect(received.map(seqOf)).toEqual([1, 2, 3, 4]);
    if (caller.version === '1.0') expect(received.map(eventOf)).toEqual(EVENTS_OF_1_0);
    else expect(received.map(stateOf)).toEqual(STATES_BEFORE_1_0);
    for (const { headers } of received) {
      expect(headers['x-a2a-notification-token']).toBe(TOKEN);
      expect(headers['x-a2a-notification-id']).toContain(`${id}/`);
    }
  },
);

it('the credentials of a webhook come as its Authorization (Spec §4.3.3)', async () => {
  await using receiver = await Receiver.open();
  const authentication = { scheme: 'Bearer', credentials: TOKEN };
  const taskPushNotificationConfig = { url: receiver.url, authentication };
  const messageId = `tck-stream-artifact-text-${randomUUID()}`;
  const body = { ...sendParams('hello', { messageId }), configuration: { taskPushNotificationConfig } };
  await wire.send('/tck/message:send', { body });
  const received = await receiver.has((all) => all.length >= 4);
  expect(received.map(({ headers }) => headers.authorization)).toEqual(Array(4).fill(`Bearer ${TOKEN}`));
});

it('a webhook that is created for a running task gets its events from then on', async () => {
  await using receiver = await Receiver.open();
  const messageId = `tck-input-required-${randomUUID()}`;
  const first = await wire.send('/tck/message:send', { body: sendParams('hello', { messageId }) });
  const { id } = first.body.task as Body;
  const created = await wire.send(`/tck/tasks/${id}/pushNotificationConfigs`, {
    body: { taskId: String(id), url: receiver.url, token: TOKEN },
  });
  expect(created.body).toMatchObject({ taskId: id, url: receiver.url });
  const canceled = await wire.send(`/tck/tasks/${id}:cancel`, { method: 'POST' });
  expect(canceled.body).toMatchObject({ status: { state: 'TASK_STATE_CANCELED' } });
  const [received] = await receiver.has((all) => all.length >= 1);
  expect(received?.body).toMatchObject({ statusUpdate: { taskId: id, status: { state: 'TASK_STATE_CANCELED' } } });
});

/** The mounts whose cards deny push. */
const DENYING: readonly PushingCaller[] = [
  { mount: '/echo', version: '1.0', binding: 'JSON-RPC', path: '/echo' },
  { mount: '/echo', version: '1.0', binding: 'HTTP+JSON', path: '/echo/message:send' },
  { mount: '/spec', version: '1.0', binding: 'JSON-RPC', path: '/spec' },
  { mount: '/spec', version: '1.0', binding: 'HTTP+JSON', path: '/spec/message:send' },
  { mount: '/spec03', version: '0.3', binding: 'JSON-RPC', path: '/spec03' },
  { mount: '/spec03', version: '0.3', binding: 'HTTP+JSON', path: '/spec03/v1/message:send' },
];

it.each(DENYING)('$mount refuses a webhook in $version over $binding, as its card says', async (caller) => {
  const { version, binding, path } = caller;
  expect((await cardOf(caller.mount)).capabilities).toMatchObject({ pushNotifications: false });
  await using receiver = await Receiver.open();
  const request: WireRequest = version === '1.0' ? {} : { unversioned: true };
  const body = requestOf(caller, { url: receiver.url });
  const answer =
    binding === 'JSON-RPC'
      ? await wire.rpc(path, version === '1.0' ? 'SendMessage' : 'message/send', body, request)
      : await wire.send(path, { ...request, body });
  // Over HTTP+JSON of 0.3 the body is the error itself.
  const refusal = reasonOf({ body: 'error' in answer.body ? answer.body : { error: answer.body } });
  expect(refusal).toBe('PUSH_NOTIFICATION_NOT_SUPPORTED');
  expect(receiver.received).toEqual([]);
});
