import { describe, expect, it } from 'vitest';
import { Webhook } from '../support/webhook.js';
import { HELLO, refusal, servedAgent } from './session-world.js';

const OLD = { versions: ['0.3'] } as const;

/** A message of 0.3. */
const message = (text: string) => ({
  kind: 'message',
  messageId: crypto.randomUUID(),
  role: 'user',
  parts: [{ kind: 'text', text }],
});

interface Service {
  sendMessage(message: unknown, config?: unknown): Promise<{ readonly id: string; readonly kind: string }>;
  getTask(id: string): Promise<{ readonly status: { readonly state: string } }>;
  getAgentCard(): Promise<object>;
}

async function service(options: Parameters<typeof servedAgent>[0] = OLD) {
  const served = await servedAgent(options);
  const { entrance } = served.open();
  return { ...served, entrance, plain: entrance as unknown as Service };
}

describe('an agent of 0.3 alone', () => {
  it('is served with plain arguments, and says so in the card of the session', async () => {
    const { plain, url } = await service();
    const { id, kind } = await plain.sendMessage(message('hi'));
    expect(kind).toBe('task');
    expect(await plain.getTask(id)).toMatchObject({ status: { state: 'completed' } });
    const address = { url: `${url}/a2a/capnweb`, transport: 'CAPNWEB' };
    const named = { additionalInterfaces: expect.arrayContaining([address]) };
    expect(await plain.getAgentCard()).toMatchObject(named);
    const card = await (await fetch(`${url}/.well-known/agent-card.json`)).json();
    expect(card).not.toMatchObject(named);
    expect(card).toMatchObject({ capabilities: { bidirectional: true } });
  });

  it.each(['1.0', '0.3', ''])('refuses a session of 1.0 that asks for version "%s"', async (version) => {
    const { entrance, plain } = await service();
    const refused = await refusal(entrance.authenticate({ parameters: { 'A2A-Version': version } }));
    expect(refused).toMatchObject({
      reason: 'VERSION_NOT_SUPPORTED',
      message: expect.stringContaining('plain arguments'),
      details: [{ metadata: { supportedVersions: '0.3' } }],
    });
    expect(await plain.sendMessage(message('still'))).toMatchObject({ kind: 'task' });
  });

  it('takes no batches', async () => {
    const { socketUrl } = await service();
    const headers = { 'content-type': 'application/x-ndjson' };
    const body = JSON.stringify(['push', ['pipeline', 0, ['authenticate'], [HELLO]]]);
    const answer = await fetch(socketUrl.replace('ws', 'http'), { method: 'POST', headers, body });
    expect(answer.status).toBe(405);
  });
});

it.each([
  ['of 0.3 alone', OLD, 'pushNotificationConfig'],
  ['of both versions', {}, 'pushNotificationConfig'],
  ['of 0.3 alone', OLD, 'pushNotification'],
  ['of both versions', {}, 'pushNotification'],
])('a webhook of plain arguments gets the bodies of 0.3: an agent %s, %s', async (_, versions, member) => {
  await using hook = await Webhook.open();
  const { plain } = await service({ ...versions, push: { allow: ['127.0.0.0/8'], firstDelayMs: 10 } } as never);
  await plain.sendMessage(message('hi'), { [member]: { url: hook.url, token: 't' } });
  const { body } = await hook.call(/completed/);
  expect(JSON.parse(body)).toMatchObject({ kind: 'task', status: { state: 'completed' } });
});
