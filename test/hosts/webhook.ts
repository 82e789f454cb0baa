import { exportJWK, generateKeyPair } from 'jose';
import { describe, expect, it, vi } from 'vitest';
import { RawConnection } from '../../packages/parley/test/raw-connection.js';
import { pushServer, sendParams } from '../push/push-server.js';
import type { Stage } from './test-host.js';

const TOKEN = 'pl4nted-s3cret-hook';
const EVENTS = ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING', 'told', 'TASK_STATE_COMPLETED'];

interface Kept {
  readonly notifications: readonly { readonly taskId: string; readonly version: string; readonly event: object }[];
  readonly refusals: readonly string[];
}

/** The receiver of push notifications on a host with Request and Response. */
export function testWebhook(stage: Stage): void {
  const hook = () => `${stage.url}/hook`;
  const fetchStored = async (url: string) => (await (await fetch(url)).json()) as Kept;
  // A refusal leaves the body unread. Some hosts then end the connection, so that no later request may use it.
  const last = { connection: 'close', 'content-type': 'application/json', 'x-a2a-notification-token': TOKEN };
  const post = async (body: string, headers: Readonly<Record<string, string>> = {}, url = hook()) => {
    const answer = await fetch(url, { method: 'POST', headers: { ...last, ...headers }, body });
    await answer.text();
    return answer.status;
  };
  const eventOf = (taskId: string) =>
    JSON.stringify({ statusUpdate: { taskId, contextId: 'c', status: { state: 'TASK_STATE_WORKING' } } });

  describe('a webhook', () => {
    it('gets the events of an agent in order, each once', async () => {
      await using agent = await pushingAgent();
      const id = await sendWithPush(agent, { url: hook(), token: TOKEN });
      await vi.waitFor(async () => expect(summarize(await fetchStored(hook()), id)).toEqual(EVENTS), {
        timeout: 30_000,
      });
    });

    it('takes signed notifications, and refuses those without a signature', async () => {
      await using agent = await pushingAgent();
      const url = `${hook()}?keys=${encodeURIComponent(`${agent.url}/.well-known/jwks.json`)}`;
      const id = await sendWithPush(agent, { url });
      await vi.waitFor(async () => expect(summarize(await fetchStored(url), id)).toEqual(EVENTS), { timeout: 30_000 });
      expect(await post(eventOf('forged'), {}, url)).toBe(401);
      expect((await fetchStored(url)).notifications.map(({ taskId }) => taskId)).not.toContain('forged');
    });

    it('drops repeats, and refuses other tokens, other types and large bodies', async () => {
      const id = { 'x-a2a-notification-id': crypto.randomUUID() };
      expect([await post(eventOf('twice'), id), await post(eventOf('twice'), id)]).toEqual([204, 204]);
      expect(await post(eventOf('refused'), { 'x-a2a-notification-token': 'other' })).toBe(401);
      expect(await post(eventOf('refused'), { 'content-type': 'text/plain' })).toBe(415);
      expect(await post('{')).toBe(400);
      expect(await tooLarge(hook())).toMatch(/^HTTP\/1\.1 413 /);
      const { notifications, refusals } = await fetchStored(hook());
      const ids = notifications.map(({ taskId }) => taskId);
      expect(ids.filter((taskId) => taskId === 'twice')).toHaveLength(1);
      expect(ids).not.toContain('refused');
      expect(refusals.map((refusal) => refusal.slice(0, 3))).toEqual(['401', '415', '400', '413']);
    });
  });
}

/** The answer to a body over the limit. Some hosts then close the connection, so that it is one of its own. */
async function tooLarge(hook: string): Promise<string> {
  const { port, pathname } = new URL(hook);
  const body = ' '.repeat(20_000);
  const head = `POST ${pathname} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\n`;
  const secret = `x-a2a-notification-token: ${TOKEN}\r\nconnection: close\r\n`;
  const request = `${head}${secret}content-length: ${body.length}\r\n\r\n${body}`;
  using connection = await RawConnection.open(Number(port), request);
  return await connection.until(/bytes"/);
}

/** The states and artifacts of a task that a webhook has. */
function summarize({ notifications }: Kept, id: string) {
  return notifications
    .filter(({ taskId }) => taskId === id)
    .map(({ event }) => {
      const { task, statusUpdate, artifactUpdate } = event as Readonly<Record<string, Record<string, never>>>;
      return (
        ((task ?? statusUpdate)?.status as { readonly state: string } | undefined)?.state ??
        (artifactUpdate?.artifact as { readonly artifactId: string } | undefined)?.artifactId
      );
    });
}

/** An agent that signs its notifications. */
async function pushingAgent() {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const key = { ...(await exportJWK(privateKey)), kty: 'EC', kid: 'k1', alg: 'ES256' };
  const signature = { issuer: 'https://agent.example', keys: [key] };
  return pushServer({ push: { allow: ['127.0.0.0/8'], signature } });
}

type PushingAgent = Awaited<ReturnType<typeof pushingAgent>>;

/** Sends a message with a webhook; resolves to the id of its task. */
async function sendWithPush({ call }: PushingAgent, taskPushNotificationConfig: object): Promise<string> {
  const { result } = await call('SendMessage', { ...sendParams('hi'), configuration: { taskPushNotificationConfig } });
  return (result as unknown as { readonly task: { readonly id: string } }).task.id;
}
