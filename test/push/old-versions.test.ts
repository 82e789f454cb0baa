import { describe, expect, it } from 'vitest';
import { pushServer } from './push-server.js';
import { type Received, Receiver, seqOf } from './receiver.js';

const TOKEN = 'pl4nted-s3cret-token';
const AUTHENTICATION = { schemes: ['Bearer'], credentials: 'pl4nted-s3cret-credentials' };

/** JSON-RPC to a path of a server. No version header: callers of that time send none. */
function rpcTo(url: string) {
  return async (path: string, method: string, params: object) => {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    // The tests compare the answers as a whole.
    return (await response.json()) as { readonly result?: never; readonly error?: { readonly code: number } };
  };
}

const message = (text: string, more: object = {}) => ({
  kind: 'message',
  messageId: crypto.randomUUID(),
  role: 'user',
  parts: [{ kind: 'text', text }],
  ...more,
});

const isDone = (all: readonly Received[]) => all.some(({ text }) => text.includes('"completed"'));
const stateOf = ({ body }: Received) => (body as { status: { state: string } }).status.state;

describe.each([
  ['the base server', { baseServer: {} }, '/communicate', '/delegate'],
  ['the address of a base server for followers of its card', { baseServer: {} }, '/', '/'],
  ['an agent of 0.2.5', { versions: ['0.2.5'] as const }, '/a2a/jsonrpc', '/a2a/jsonrpc'],
])('push configurations of %s', (_, options, communicate, delegate) => {
  it('are set, read, listed, delivered and deleted by the methods of 0.2.5', async () => {
    await using receiver = await Receiver.open();
    await using other = await Receiver.open();
    await using agent = await pushServer(options);
    const rpc = rpcTo(agent.url);
    const sent = await rpc(communicate, 'message/send', { message: message('wait') });
    const { id: taskId, contextId } = sent.result as never as { id: string; contextId: string };
    const pushNotificationConfig = { id: 'c', url: receiver.url, token: TOKEN, authentication: AUTHENTICATION };
    const methodOf = (name: string) => `tasks/pushNotificationConfig/${name}`;
    const set = await rpc(delegate, methodOf('set'), { taskId, pushNotificationConfig });
    expect(set.result).toEqual({ taskId, pushNotificationConfig });
    await rpc(delegate, methodOf('set'), { taskId, pushNotificationConfig: { id: 'gone', url: other.url } });
    const shown = {
      taskId,
      pushNotificationConfig: { id: 'c', url: receiver.url, authentication: { schemes: ['Bearer'] } },
    };
    const byId = { id: taskId, pushNotificationConfigId: 'c' };
    expect((await rpc(delegate, methodOf('get'), byId)).result).toEqual(shown);
    expect((await rpc(delegate, methodOf('list'), { id: taskId })).result).toHaveLength(2);
    const gone = { id: taskId, pushNotificationConfigId: 'gone' };
    expect((await rpc(delegate, methodOf('delete'), gone)).result).toBeNull();
    expect((await rpc(delegate, methodOf('list'), { id: taskId })).result).toEqual([shown]);
    await rpc(communicate, 'message/send', { message: message('go on', { taskId, contextId }) });
    const received = await receiver.has(isDone);
    expect(received.map(stateOf)).toEqual([...received.slice(1).map(() => 'working'), 'completed']);
    expect(received.map(seqOf)).toEqual(received.map(seqOf).sort((one, two) => one - two));
    for (const { headers, body } of received) {
      expect(body).toMatchObject({ kind: 'task', id: taskId, contextId });
      expect(headers).toMatchObject({
        'content-type': 'application/json',
        authorization: 'Bearer pl4nted-s3cret-credentials',
        'x-a2a-notification-token': TOKEN,
      });
    }
    expect(other.received).toEqual([]);
  });

  it('are taken inside a send, and delivered', async () => {
    await using receiver = await Receiver.open();
    await using agent = await pushServer(options);
    const rpc = rpcTo(agent.url);
    const configuration = {
      acceptedOutputModes: ['text'],
      pushNotificationConfig: { url: receiver.url, token: TOKEN, authentication: AUTHENTICATION },
    };
    const sent = await rpc(communicate, 'message/send', { message: message('hi'), configuration });
    expect(sent.result).toMatchObject({ kind: 'task', status: { state: 'completed' } });
    const received = await receiver.has(isDone);
    expect(received.map(stateOf)).toEqual(['submitted', 'working', 'working', 'completed']);
    expect(received.map(seqOf)).toEqual([1, 2, 3, 4]);
    expect(received.at(-1)?.body).toMatchObject({ artifacts: [{ artifactId: 'told', parts: [{ text: 'hi' }] }] });
    const { id } = sent.result as never as { id: string };
    expect((await rpc(delegate, 'tasks/pushNotificationConfig/list', { id })).result).toMatchObject([
      { taskId: id, pushNotificationConfig: { id: 'default', url: receiver.url } },
    ]);
  });

  it('are refused for a url inside the network, and for a missing task', async () => {
    await using agent = await pushServer({ ...options, push: true });
    const rpc = rpcTo(agent.url);
    const pushNotificationConfig = { url: 'http://169.254.169.254/latest/' };
    const refused = await rpc(communicate, 'message/send', {
      message: message('hi'),
      configuration: { pushNotificationConfig },
    });
    expect(refused.error).toMatchObject({ code: -32602 });
    const taskId = 'nobody';
    const missing = { taskId, pushNotificationConfig: { url: 'https://receiver.example/' } };
    expect((await rpc(delegate, 'tasks/pushNotificationConfig/set', missing)).error).toMatchObject({ code: -32001 });
  });
});
