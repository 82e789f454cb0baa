import { describe, expect, it } from 'vitest';
import { pushServer, sendParams } from './push-server.js';

const HOOK = 'https://receiver.example/hook';

describe('push configurations (Spec §3.1.7 to §3.1.10)', () => {
  it('are created with an id, replaced by id, read, listed page by page, and deleted for good', async () => {
    await using agent = await pushServer();
    expect(agent.server.agentCard.capabilities.pushNotifications).toBe(true);
    const taskId = await waitingTask(agent);
    const authentication = { scheme: 'Bearer', credentials: 'secret' };
    const first = await ok(agent, 'CreateTaskPushNotificationConfig', {
      taskId,
      url: HOOK,
      token: 't',
      authentication,
    });
    expect(first).toEqual({ id: expect.stringMatching(/.+/), taskId, url: HOOK, token: 't', authentication });
    for (const id of ['b', 'a']) await ok(agent, 'CreateTaskPushNotificationConfig', { taskId, id, url: HOOK });
    const replaced = await ok(agent, 'CreateTaskPushNotificationConfig', { taskId, id: 'a', url: `${HOOK}/2` });
    expect(await ok(agent, 'GetTaskPushNotificationConfig', { taskId, id: 'a' })).toEqual(replaced);
    const page = await ok(agent, 'ListTaskPushNotificationConfigs', { taskId, pageSize: 2 });
    expect(page).toMatchObject({ configs: [{}, {}], nextPageToken: expect.stringMatching(/.+/) });
    const rest = await ok(agent, 'ListTaskPushNotificationConfigs', { taskId, pageToken: page.nextPageToken });
    expect(rest).toMatchObject({ configs: [{}], nextPageToken: '' });
    expect([...page.configs, ...rest.configs].map(({ id }: { id: string }) => id).sort()).toEqual(
      [first.id, 'a', 'b'].sort(),
    );
    for (const _ of [1, 2])
      expect(await ok(agent, 'DeleteTaskPushNotificationConfig', { taskId, id: 'a' })).toEqual({});
    expect(await codeOf(agent, 'GetTaskPushNotificationConfig', { taskId, id: 'a' })).toBe(-32001);
  });

  it('need their task', async () => {
    await using agent = await pushServer();
    const taskId = 'nobody';
    expect(await codeOf(agent, 'CreateTaskPushNotificationConfig', { taskId, url: HOOK })).toBe(-32001);
    expect(await codeOf(agent, 'GetTaskPushNotificationConfig', { taskId, id: 'x' })).toBe(-32001);
    expect(await codeOf(agent, 'ListTaskPushNotificationConfigs', { taskId })).toBe(-32001);
    expect(await codeOf(agent, 'DeleteTaskPushNotificationConfig', { taskId, id: 'x' })).toBe(-32001);
  });

  it('are limited in number for a task, also if they come all at once or with messages', async () => {
    await using agent = await pushServer({ push: { maxConfigs: 3 } });
    const taskId = await waitingTask(agent);
    const creating = Array.from({ length: 10 }, (_, at) =>
      codeOf(agent, 'CreateTaskPushNotificationConfig', { taskId, id: `c${at}`, url: HOOK }),
    );
    const codes = await Promise.all(creating);
    expect(codes.filter((code) => code === undefined)).toHaveLength(3);
    const { configs } = await ok(agent, 'ListTaskPushNotificationConfigs', { taskId });
    const id = configs[0]?.id;
    expect(await codeOf(agent, 'CreateTaskPushNotificationConfig', { taskId, id, url: HOOK })).toBeUndefined();
    const configuration = { taskPushNotificationConfig: { id: 'more', url: HOOK } };
    const refused = await agent.call('SendMessage', { ...sendParams('x', { taskId }), configuration });
    expect(refused.error).toMatchObject({ message: expect.stringContaining('3 push configurations') });
  });

  it.each([
    ['url', { url: 'ftp://receiver.example/' }],
    ['url', { url: 'file:///etc/passwd' }],
    ['url', { url: 'receiver.example' }],
    ['url', { url: 'https://user:pass@receiver.example/' }],
    ['url', { url: 'https://receiver.example/a\nb' }],
    ['url', { url: `https://receiver.example/${'x'.repeat(3_000)}` }],
    ['url', { url: 'http://127.0.0.1:8080/' }],
    ['url', { url: 'http://2130706433/' }],
    ['url', { url: 'http://[::ffff:10.0.0.1]/' }],
    ['url', { url: 'http://localhost/' }],
    ['url', { url: 'http://169.254.169.254/latest/meta-data/' }],
    ['token', { url: HOOK, token: 'a\r\nX-Evil: 1' }],
    ['token', { url: HOOK, token: 'ключ' }],
    ['authentication.scheme', { url: HOOK, authentication: { scheme: 'Bearer x', credentials: 'y' } }],
    ['authentication.credentials', { url: HOOK, authentication: { scheme: 'Bearer', credentials: 'y\u0000' } }],
    ['id', { url: HOOK, id: 'x'.repeat(300) }],
  ])('are refused for their %s: %j (Spec §13.2)', async (field, config) => {
    await using agent = await pushServer({ push: true });
    const taskId = await waitingTask(agent);
    const { error } = await agent.call('CreateTaskPushNotificationConfig', { taskId, ...config });
    expect(error).toMatchObject({ code: -32602 });
    expect(JSON.stringify(error)).toContain(`"field":"${field}"`);
    const configuration = { taskPushNotificationConfig: config };
    const sent = await agent.call('SendMessage', { ...sendParams('x'), configuration });
    expect(JSON.stringify(sent.error)).toContain(`"field":"configuration.taskPushNotificationConfig.${field}"`);
  });

  it('are set, read, listed and deleted in 0.3, under the id `default` if they have none', async () => {
    await using agent = await pushServer();
    const taskId = await waitingTask(agent);
    const pushNotificationConfig = { url: HOOK, token: 't', authentication: { schemes: ['Bearer'], credentials: 'c' } };
    const kept = { taskId, pushNotificationConfig: { ...pushNotificationConfig, id: 'default' } };
    const old = (method: string, params: object) => ok(agent, `tasks/pushNotificationConfig/${method}`, params, '0.3');
    expect(await old('set', { taskId, pushNotificationConfig })).toEqual(kept);
    const shown = {
      taskId,
      pushNotificationConfig: { id: 'default', url: HOOK, authentication: { schemes: ['Bearer'] } },
    };
    expect(await old('get', { id: taskId })).toEqual(shown);
    expect(await old('get', { id: taskId, pushNotificationConfigId: 'default' })).toEqual(shown);
    expect(await old('list', { id: taskId })).toEqual([shown]);
    expect(await old('delete', { id: taskId, pushNotificationConfigId: 'default' })).toBeNull();
    expect(await old('list', { id: taskId })).toEqual([]);
  });

  it('are read and listed without their secrets (Spec §13.2)', async () => {
    await using agent = await pushServer();
    const taskId = await waitingTask(agent);
    const authentication = { scheme: 'Bearer', credentials: 's3cret-credentials' };
    const config = { taskId, id: 'hook', url: HOOK, token: 's3cret-token', authentication };
    expect(await ok(agent, 'CreateTaskPushNotificationConfig', config)).toEqual(config);
    const shown = { taskId, id: 'hook', url: HOOK, authentication: { scheme: 'Bearer' } };
    expect(await ok(agent, 'GetTaskPushNotificationConfig', { taskId, id: 'hook' })).toEqual(shown);
    const { configs } = await ok(agent, 'ListTaskPushNotificationConfigs', { taskId });
    expect(configs).toEqual([shown]);
  });

  it('have their routes over HTTP+JSON, in 1.0 and 0.3', async () => {
    await using agent = await pushServer();
    const taskId = await waitingTask(agent);
    const rest = async (method: string, path: string, body?: object, version = '1.0') => {
      const headers = { 'a2a-version': version, ...(body && { 'content-type': 'application/json' }) };
      const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
      const response = await fetch(`${agent.url}/a2a/rest${path}`, init);
      expect(response.status).toBe(200);
      return response.json();
    };
    const at = `/tasks/${taskId}/pushNotificationConfigs`;
    const config = { id: 'a', taskId, url: HOOK };
    expect(await rest('POST', at, { id: 'a', url: HOOK })).toEqual(config);
    expect(await rest('GET', `${at}/a`)).toEqual(config);
    expect(await rest('GET', at)).toEqual({ configs: [config], nextPageToken: '' });
    expect(await rest('DELETE', `${at}/a`)).toEqual({});
    const name = `tasks/${taskId}/pushNotificationConfigs/b`;
    const written = { name, pushNotificationConfig: { id: 'b', url: HOOK } };
    const sent = { parent: `tasks/${taskId}`, configId: 'b', config: { pushNotificationConfig: { url: HOOK } } };
    expect(await rest('POST', `/v1${at}`, sent, '0.3')).toEqual(written);
    expect(await rest('GET', `/v1${at}/b`, undefined, '0.3')).toEqual(written);
    expect(await rest('GET', `/v1${at}`, undefined, '0.3')).toEqual({ configs: [written], nextPageToken: '' });
    await rest('DELETE', `/v1${at}/b`, undefined, '0.3');
  });

  it.each([{ push: false }, { pushNotifications: false }])('are not offered with %j (Spec §3.3.4)', async (options) => {
    await using agent = await pushServer(options);
    expect(agent.server.agentCard.capabilities.pushNotifications).toBe(false);
    expect(await codeOf(agent, 'CreateTaskPushNotificationConfig', { taskId: 't', url: HOOK })).toBe(-32003);
    const configuration = { taskPushNotificationConfig: { url: HOOK } };
    expect(await codeOf(agent, 'SendMessage', { ...sendParams('x'), configuration })).toBe(-32003);
  });
});

type Agent = Awaited<ReturnType<typeof pushServer>>;

// The tests compare the answers as a whole.
async function ok(agent: Agent, method: string, params: object, version?: string) {
  const { result, error } = await agent.call(method, params, version);
  expect(error).toBeUndefined();
  return result as never as { id: string; configs: { id: string }[]; nextPageToken: string };
}

async function codeOf(agent: Agent, method: string, params: object): Promise<number | undefined> {
  return (await agent.call(method, params)).error?.code;
}

async function waitingTask(agent: Agent): Promise<string> {
  const { result } = await agent.call('SendMessage', sendParams('wait'));
  return (result as never as { task: { id: string } }).task.id;
}
