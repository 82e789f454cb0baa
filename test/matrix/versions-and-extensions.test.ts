import { describe, expect, it } from 'vitest';
import { v1_0 } from '../../packages/parley/src/codec/v1_0/wire-codec.js';
import { BoundAgent, type BoundAgentOptions, HELLO } from '../../packages/parley/test/bound-agent.js';
import { jsonOf, textOf } from '../../packages/parley/test/exchange-request.js';
import { TASK } from '../../packages/parley/test/recording-handler.js';
import { oldCodec } from './old-codec.js';

const interfaces = (...versions: string[]) =>
  versions.flatMap((protocolVersion) =>
    ['JSONRPC', 'HTTP+JSON'].map((protocolBinding) => ({ url: 'http://x.example', protocolBinding, protocolVersion })),
  );
const both: BoundAgentOptions = { codecs: [v1_0, oldCodec], interfaces: interfaces('1.0', '0.3') };

/** A 1.0 call of GetTask over each binding, with the version told as given. */
async function calls(agent: BoundAgent, headers: Record<string, string>, query = '') {
  return [
    await agent.rpc('GetTask', { id: 't1' }, { headers, url: `/${query}` }),
    await agent.call('GET /tasks/t1', { headers, url: `/agent/tasks/t1${query}` }),
  ];
}

const refusal = (requested: string, supported: string) =>
  expect.objectContaining({
    reason: 'VERSION_NOT_SUPPORTED',
    metadata: { requestedVersion: requested, supportedVersions: supported },
  });

describe('version negotiation', () => {
  it.each(['1.0', '1.0.0', '1.0.1', ' 1.0 ', '1.0.3-rc.1'])('takes %s for 1.0 (Spec §3.6)', async (version) => {
    const agent = new BoundAgent();
    for (const answer of await calls(agent, { 'a2a-version': version })) expect(answer.status).toBe(200);
    expect(agent.handler.calls.map(({ context }) => context.version)).toEqual(['1.0', '1.0']);
  });

  it.each([
    ['?A2A-Version=1.0', '1.0'],
    ['?x=1&a2a-version=1.0.2', '1.0'],
    ['?A2A-Version=1%2E0&y=', '1.0'],
  ])(
    'reads the version from the query %s where the header is missing or empty (Spec §3.6.1)',
    async (query, version) => {
      const agent = new BoundAgent();
      for (const header of [{ 'a2a-version': '' }]) await calls(agent, header, query);
      expect(agent.handler.calls.map(({ context }) => context.version)).toEqual([version, version]);
    },
  );

  it('believes neither header nor query if they name two versions (Spec §3.6.1)', async () => {
    const agent = new BoundAgent();
    for (const [header, query] of [
      ['1.0', '9.9'],
      ['9.9', '1.0'],
    ] as const) {
      for (const answer of await calls(agent, { 'a2a-version': header }, `?A2A-Version=${query}`))
        expect(await textOf(answer)).toContain('A2A-Version is given twice');
    }
    expect(agent.handler.calls).toHaveLength(0);
    await calls(agent, { 'a2a-version': '1.0' }, '?A2A-Version=1.0');
    expect(agent.handler.calls).toHaveLength(2);
  });

  it.each(['', '?A2A-Version=', '?notA2A-Version=1.0'])(
    'takes an absent or empty version for 0.3 (Spec §3.6.2), query "%s"',
    async (query) => {
      for (const answer of await calls(new BoundAgent(), { 'a2a-version': '' }, query)) {
        const { error } = (await jsonOf(answer)) as { error: { data?: unknown[]; details?: unknown[] } };
        expect(error.data ?? error.details).toContainEqual(refusal('0.3', '1.0'));
      }
    },
  );

  it('takes it for another one where the endpoint says so', async () => {
    const agent = new BoundAgent({ endpoint: { versionWhenAbsent: '1.0' } });
    for (const answer of await calls(agent, { 'a2a-version': '' })) expect(answer.status).toBe(200);
    for (const answer of await calls(agent, { 'a2a-version': '0.3' })) {
      expect(await textOf(answer)).toContain('VERSION_NOT_SUPPORTED');
    }
  });

  it.each(['0.3', '1.1', '2.0', '1', 'v1.0', 'latest', '１.0', '1.0.', '__proto__'])(
    'refuses the version %s, telling those it offers (Spec §3.6.2)',
    async (version) => {
      const agent = new BoundAgent();
      const [rpc, rest] = await calls(agent, { 'a2a-version': version });
      const isPatch = version === '1.0.';
      if (isPatch) return expect(agent.handler.calls).toHaveLength(2);
      expect(await jsonOf(rpc as never)).toMatchObject({ error: { code: -32009, data: [refusal(version, '1.0')] } });
      expect(rest?.status).toBe(400);
      expect(await jsonOf(rest as never)).toMatchObject({ error: { details: [refusal(version, '1.0')] } });
    },
  );

  it('echoes no more than a bit of a long version', async () => {
    const [rpc] = await calls(new BoundAgent(), { 'a2a-version': 'x'.repeat(5000) });
    expect((await textOf(rpc as never)).length).toBeLessThan(500);
  });

  it('offers what the card declares for the binding, no more than the codecs speak (Spec §3.6.2)', async () => {
    const only03 = new BoundAgent({ codecs: [v1_0, oldCodec], interfaces: interfaces('0.3', '7.0') });
    for (const answer of await calls(only03, { 'a2a-version': '1.0' })) {
      expect(await textOf(answer)).toContain('"supportedVersions":"0.3"');
    }
    const split = new BoundAgent({
      codecs: [v1_0, oldCodec],
      interfaces: [
        { url: 'http://x.example', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
        { url: 'http://x.example', protocolBinding: 'HTTP+JSON', protocolVersion: '0.3' },
      ],
    });
    const [rpc, rest] = await calls(split, { 'a2a-version': '1.0' });
    expect(await jsonOf(rpc as never)).toMatchObject({ result: TASK });
    expect(rest?.status).toBe(400);
  });

  it('follows a card that changes', async () => {
    const agent = new BoundAgent({ codecs: [v1_0, oldCodec], interfaces: interfaces('0.3') });
    const before = await calls(agent, { 'a2a-version': '1.0' });
    agent.card = { ...agent.card, supportedInterfaces: interfaces('1.0') };
    const after = await calls(agent, { 'a2a-version': '1.0' });
    expect([...before, ...after].map(({ status }) => status)).toEqual([200, 400, 200, 200]);
    expect(agent.handler.calls).toHaveLength(2);
  });

  it('speaks each version in its own names when both are offered (Spec §3.6.2)', async () => {
    const agent = new BoundAgent(both);
    await agent.rpc('message/send', HELLO, { headers: { 'a2a-version': '0.3' } });
    await agent.rpc('message/send', HELLO, { headers: { 'a2a-version': '' } });
    await agent.rpc('SendMessage', HELLO, { headers: { 'a2a-version': '1.0' } });
    await agent.call('POST /v1/message:send', { body: HELLO, headers: { 'a2a-version': '' } });
    await agent.call('GET /v1/tasks/t1', { headers: { 'a2a-version': '0.3' } });
    await agent.call('POST /message:send', { body: HELLO });
    expect(agent.handler.calls.map(({ context }) => context.version)).toEqual([
      '0.3',
      '0.3',
      '1.0',
      '0.3',
      '0.3',
      '1.0',
    ]);
  });

  it('answers a method or a path of a later version in that version, for callers of none or an older one', async () => {
    const agent = new BoundAgent(both);
    for (const version of ['', '0.3']) await calls(agent, { 'a2a-version': version });
    expect(agent.handler.calls.map(({ context }) => context.version)).toEqual(['1.0', '1.0', '1.0', '1.0']);
  });

  it('refuses the version for methods and paths that only an older one has (§4.1)', async () => {
    const agent = new BoundAgent(both);
    const rpc = await agent.rpc('message/send', HELLO, { headers: { 'a2a-version': '1.0' } });
    expect(await jsonOf(rpc)).toMatchObject({ error: { code: -32009, data: [refusal('1.0', '0.3')] } });
    const rest = await agent.call('POST /v1/message:send', { body: HELLO, headers: { 'a2a-version': '1.0' } });
    expect(rest.status).toBe(400);
    expect(await jsonOf(rest)).toMatchObject({ error: { details: [refusal('1.0', '0.3')] } });
    expect(agent.handler.calls).toEqual([]);
  });

  it('answers 0.3 in plain JSON whatever is accepted (§4.3)', async () => {
    const headers = { 'a2a-version': '0.3', accept: 'application/a2a+json' };
    for (const line of ['GET /v1/tasks/t1', 'PUT /v1/tasks/t1', 'GET /v1/nothing']) {
      expect((await new BoundAgent(both).call(line, { headers })).headers['content-type']).toBe('application/json');
    }
  });

  it('refuses a version before it looks for the method, but not before it looks for the route', async () => {
    const headers = { 'a2a-version': '9.9' };
    expect(await jsonOf(await new BoundAgent().rpc('Nothing', {}, { headers }))).toMatchObject({
      error: { code: -32009 },
    });
    expect((await new BoundAgent().call('GET /nothing', { headers })).status).toBe(404);
  });
});

describe('extensions', () => {
  const extensions = [{ uri: 'urn:a', required: true }, { uri: 'urn:b' }, { uri: 'https://x.example/ext/v1' }, {}];
  const agentOf = () => new BoundAgent({ capabilities: { extensions } });

  it.each([
    ['urn:a', ['urn:a']],
    ['urn:b, urn:a', ['urn:b', 'urn:a']],
    ['  urn:a ,,urn:b,urn:a ', ['urn:a', 'urn:b']],
    ['urn:a,urn:unknown', ['urn:a']],
    ['urn:a, https://x.example/ext/v2', ['urn:a']],
    ['urn:a, URN:B', ['urn:a']],
  ])(
    'asked for by "%s" are activated if the card has them, and named in the answer (Spec §3.2.6, §4.6.3, §4.6)',
    async (asked, active) => {
      const agent = agentOf();
      for (const answer of await calls(agent, { 'a2a-extensions': asked })) {
        expect(answer.headers['a2a-extensions']).toBe(active.join(', '));
      }
      expect(agent.handler.calls.map(({ context }) => context.extensions)).toEqual([active, active]);
    },
  );

  it('are read from the older header as well, and both add up (Spec §3.2.6)', async () => {
    const agent = agentOf();
    await calls(agent, { 'x-a2a-extensions': 'urn:a' });
    await calls(agent, { 'a2a-extensions': 'urn:b', 'x-a2a-extensions': 'urn:a' });
    expect(agent.handler.calls.map(({ context }) => context.extensions)).toEqual([
      ['urn:a'],
      ['urn:a'],
      ['urn:b', 'urn:a'],
      ['urn:b', 'urn:a'],
    ]);
  });

  it('are named in the spelling of the version (Spec §3.2.6)', async () => {
    const agent = new BoundAgent({ ...both, capabilities: { extensions } });
    const answer = await agent.rpc('message/send', HELLO, {
      headers: { 'a2a-version': '', 'x-a2a-extensions': 'urn:a' },
    });
    expect(answer.headers).toMatchObject({ 'x-a2a-extensions': 'urn:a' });
    expect(answer.headers).not.toHaveProperty('a2a-extensions');
  });

  it('stand in the head of a stream too (Spec §4.6)', async () => {
    const headers = { 'a2a-extensions': 'urn:a' };
    for (const answer of [
      await agentOf().rpc('SubscribeToTask', { id: 't1' }, { headers }),
      await agentOf().call('POST /tasks/t1:subscribe', { headers }),
    ]) {
      expect(answer.headers).toMatchObject({ 'content-type': 'text/event-stream', 'a2a-extensions': 'urn:a' });
    }
  });

  it('are inactive unless asked for, and then not named (Spec §4.6.1)', async () => {
    const agent = new BoundAgent({ capabilities: { extensions: [{ uri: 'urn:b' }] } });
    for (const answer of await calls(agent, {})) expect(answer.headers).not.toHaveProperty('a2a-extensions');
    expect(agent.handler.calls.map(({ context }) => context.extensions)).toEqual([[], []]);
  });

  it('are ignored where the card has none (Spec §4.6.3)', async () => {
    const agent = new BoundAgent();
    for (const answer of await calls(agent, { 'a2a-extensions': 'urn:a' })) expect(answer.status).toBe(200);
    expect(agent.handler.calls.map(({ context }) => context.extensions)).toEqual([[], []]);
  });

  const OPERATIONS: readonly (readonly [string, string, string, unknown])[] = [
    ['SendMessage', 'POST', '/message:send', HELLO],
    ['SendStreamingMessage', 'POST', '/message:stream', HELLO],
    ['GetTask', 'GET', '/tasks/t1', { id: 't1' }],
    ['ListTasks', 'GET', '/tasks', {}],
    ['CancelTask', 'POST', '/tasks/t1:cancel', { id: 't1' }],
    ['SubscribeToTask', 'POST', '/tasks/t1:subscribe', { id: 't1' }],
    [
      'CreateTaskPushNotificationConfig',
      'POST',
      '/tasks/t1/pushNotificationConfigs',
      { taskId: 't1', url: 'https://x.example' },
    ],
    ['GetTaskPushNotificationConfig', 'GET', '/tasks/t1/pushNotificationConfigs/c', { taskId: 't1', id: 'c' }],
    ['ListTaskPushNotificationConfigs', 'GET', '/tasks/t1/pushNotificationConfigs', { taskId: 't1' }],
    ['DeleteTaskPushNotificationConfig', 'DELETE', '/tasks/t1/pushNotificationConfigs/c', { taskId: 't1', id: 'c' }],
  ];

  it.each(OPERATIONS)('that are required must be declared for %s (Spec §3.3.4)', async (method, verb, path, body) => {
    const agent = agentOf();
    const info = { reason: 'EXTENSION_SUPPORT_REQUIRED', metadata: { extension: 'urn:a' } };
    const rpc = await agent.rpc(method, body, { headers: { 'a2a-extensions': 'urn:b' } });
    expect(await jsonOf(rpc)).toMatchObject({ error: { code: -32008, data: [info] } });
    const rest = await agent.call(`${verb} ${path}`, verb === 'POST' ? { body } : {});
    expect(rest.status).toBe(400);
    expect(await jsonOf(rest)).toMatchObject({ error: { details: [info] } });
    expect(agent.handler.calls).toEqual([]);
  });

  it('that are required need not be declared to get the extended card (REC 33)', async () => {
    const agent = agentOf();
    await agent.rpc('GetExtendedAgentCard');
    await agent.call('GET /extendedAgentCard');
    expect(agent.handler.calls.map(({ operation }) => operation)).toEqual([
      'getExtendedAgentCard',
      'getExtendedAgentCard',
    ]);
  });

  it('leave data of the message as it is (Spec §4.6.2, §4.6)', async () => {
    const agent = agentOf();
    const message = { ...HELLO.message, extensions: ['urn:a'], metadata: { 'urn:a': { snake_case: [null, 1] } } };
    await agent.rpc('SendMessage', { message }, { headers: { 'a2a-extensions': 'urn:a' } });
    expect(agent.handler.calls[0]?.request).toEqual({ message });
  });
});

describe('the context of a call', () => {
  it('passes on the trace and keeps its signal unmade until looked at, also in a copy', async () => {
    const agent = new BoundAgent();
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    await calls(agent, { traceparent });
    for (const { context } of agent.handler.calls) {
      expect(context.traceparent).toBe(traceparent);
      expect({ ...context }.signal).toBe(context.signal);
      expect(context.signal.aborted).toBe(false);
    }
    await calls(agent, {});
    expect('traceparent' in (agent.handler.calls[2]?.context ?? {})).toBe(false);
  });
});
