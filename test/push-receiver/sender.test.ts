import { exportJWK, generateKeyPair } from 'jose';
import { PushReceiver, type PushReceiverOptions, type ReceivedNotification } from 'parley-a2a/push-receiver';
import { describe, expect, it } from 'vitest';
import { pushServer, sendParams } from '../push/push-server.js';
import { LocalServer } from './receiver-world.js';

const ISSUER = 'https://agent.example';
const AUTHENTICATION = { scheme: 'Bearer', credentials: 'pl4nted-s3cret-credentials' };
const TOKEN = 'pl4nted-s3cret-token';
const ALLOW = ['127.0.0.0/8'];
const WAIT = { timeout: 15_000 };

/** A server that signs notifications and publishes its key. */
async function signingServer() {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const key = { ...(await exportJWK(privateKey)), kty: 'EC', kid: 'k1', alg: 'ES256' };
  return pushServer({ push: { allow: ALLOW, firstDelayMs: 10, signature: { issuer: ISSUER, keys: [key] } } });
}

/** A webhook at a port of its own. `options` get its url, which is the audience of signatures. */
async function webhook(options: (url: string) => Partial<PushReceiverOptions>) {
  const notifications: ReceivedNotification[] = [];
  const refusals: string[] = [];
  /** The numbers of the requests whose answers are lost. */
  const lost = new Set<number>();
  let requests = 0;
  let receiver: PushReceiver | undefined;
  const local = await LocalServer.open((request, response) => {
    requests += 1;
    if (lost.has(requests)) response.writeHead = () => response.destroy() as never;
    receiver?.listener(request, response);
  });
  const url = `${local.url}/hook`;
  receiver = new PushReceiver({
    onNotification: (notification) => void notifications.push(notification),
    onRefusal: ({ status, reason }) => void refusals.push(`${status} ${reason}`),
    ...options(url),
  });
  return {
    url,
    notifications,
    refusals,
    lost,
    requests: () => requests,
    [Symbol.asyncDispose]: () => local[Symbol.asyncDispose](),
  };
}

type Webhook = Awaited<ReturnType<typeof webhook>>;

const seqsOf = ({ notifications }: Webhook) => notifications.map(({ id }) => Number(id?.split('/').at(-1)));
const statesOf = ({ notifications }: Webhook) =>
  notifications.map(({ event }) => {
    if (event.task !== undefined) return event.task.status.state;
    return event.statusUpdate !== undefined ? event.statusUpdate.status.state : Object.keys(event)[0];
  });

/** All secrets that a sender can have. */
const strict = (server: string) => (url: string) => ({
  token: TOKEN,
  authentication: AUTHENTICATION,
  signature: { issuer: ISSUER, audience: url, jwksUrl: `${server}/.well-known/jwks.json`, allow: ALLOW },
});

describe('a PushReceiver and the sender of a server', () => {
  it('fit with token, credential and signature for 1.0 (Spec §4.3.3, §13.2)', async () => {
    await using agent = await signingServer();
    await using hook = await webhook(strict(agent.url));
    const taskPushNotificationConfig = { id: 'c', url: hook.url, token: TOKEN, authentication: AUTHENTICATION };
    await agent.call('SendMessage', { ...sendParams('hi'), configuration: { taskPushNotificationConfig } });
    await expect.poll(() => [hook.refusals, seqsOf(hook)], WAIT).toEqual([[], [1, 2, 3, 4]]);
    expect(statesOf(hook)).toEqual([
      'TASK_STATE_SUBMITTED',
      'TASK_STATE_WORKING',
      'artifactUpdate',
      'TASK_STATE_COMPLETED',
    ]);
    expect(hook.notifications.map(({ version }) => version)).toEqual(['1.0', '1.0', '1.0', '1.0']);
  });

  it('fit with token, credential and signature for 0.3 (0.3 §9.5)', async () => {
    await using agent = await signingServer();
    await using hook = await webhook(strict(agent.url));
    const authentication = { schemes: ['Bearer'], credentials: AUTHENTICATION.credentials };
    const pushNotificationConfig = { url: hook.url, token: TOKEN, authentication };
    const message = { kind: 'message', messageId: 'm1', role: 'user', parts: [{ kind: 'text', text: 'hi' }] };
    await agent.call('message/send', { message, configuration: { pushNotificationConfig } }, '0.3');
    await expect.poll(() => [hook.refusals, seqsOf(hook)], WAIT).toEqual([[], [1, 2, 3, 4]]);
    expect(statesOf(hook)).toEqual([
      'TASK_STATE_SUBMITTED',
      'TASK_STATE_WORKING',
      'TASK_STATE_WORKING',
      'TASK_STATE_COMPLETED',
    ]);
    expect(hook.notifications.at(-1)).toMatchObject({
      version: '0.3',
      event: { task: { artifacts: [{ artifactId: 'told' }] } },
    });
  });

  it('drop what comes again because an answer was lost, and keep the order', async () => {
    await using agent = await signingServer();
    await using hook = await webhook(strict(agent.url));
    for (const request of [1, 3, 4]) hook.lost.add(request);
    const taskPushNotificationConfig = { url: hook.url, token: TOKEN, authentication: AUTHENTICATION };
    await agent.call('SendMessage', { ...sendParams('hi'), configuration: { taskPushNotificationConfig } });
    const queues = async () => (await agent.server.deliveries.list()).queues;
    await expect.poll(() => hook.requests(), WAIT).toBe(7);
    await expect.poll(async () => (await queues()).map(({ position, last }) => last - position), WAIT).toEqual([0]);
    expect([hook.refusals, seqsOf(hook)]).toEqual([[], [1, 2, 3, 4]]);
  });

  it('repeat an event until its handler succeeds, and hand it on before the next one', async () => {
    await using agent = await signingServer();
    const handled: string[] = [];
    let attempts = 0;
    await using hook = await webhook((url) => ({
      ...strict(agent.url)(url),
      onNotification: ({ id = '' }) => {
        attempts += 1;
        if (attempts % 2 === 1) throw new Error('the database is away');
        handled.push(id.split('/').at(-1) ?? '');
      },
    }));
    const taskPushNotificationConfig = { url: hook.url, token: TOKEN, authentication: AUTHENTICATION };
    await agent.call('SendMessage', { ...sendParams('hi'), configuration: { taskPushNotificationConfig } });
    await expect.poll(() => handled, WAIT).toEqual(['1', '2', '3', '4']);
    expect(attempts).toBe(8);
  });

  it.each([
    ['another token', { token: 'other', authentication: AUTHENTICATION }, 'X-A2A-Notification-Token is not'],
    ['no credential', { token: TOKEN }, 'Authorization does not name'],
  ])('do not fit with %s', async (_, secrets, reason) => {
    await using agent = await signingServer();
    await using hook = await webhook(strict(agent.url));
    const taskPushNotificationConfig = { url: hook.url, ...secrets };
    await agent.call('SendMessage', { ...sendParams('hi'), configuration: { taskPushNotificationConfig } });
    await expect.poll(() => hook.refusals[0], WAIT).toContain(`401 ${reason}`);
    expect(hook.notifications).toEqual([]);
  });

  it('do not fit with the keys of another server', async () => {
    await using agent = await signingServer();
    await using other = await signingServer();
    await using hook = await webhook(strict(other.url));
    const taskPushNotificationConfig = { url: hook.url, token: TOKEN, authentication: AUTHENTICATION };
    await agent.call('SendMessage', { ...sendParams('hi'), configuration: { taskPushNotificationConfig } });
    await expect.poll(() => hook.refusals[0], WAIT).toContain('401 the signature is not valid');
    expect(hook.notifications).toEqual([]);
  });
});
