import type { Authenticator } from 'parley-a2a/auth';
import { describe, expect, it } from 'vitest';
import { HELLO, itemsOf, message, refusal, servedAgent, waitForClose } from './session-world.js';
import { bearer, tokens } from './tokens.js';

const VERSION = HELLO.parameters;
const asking = {
  execute: async (_context: unknown, events: { inputRequired(text: string): Promise<unknown> }) =>
    void (await events.inputRequired('and?')),
};

describe('the credential of a session', () => {
  it.each([
    ['a bearer token', { scheme: 'tokens', value: 'ada' }],
    ['a bearer token by the scheme of HTTP', { scheme: 'bearer', value: 'ada' }],
    ['a key in a header', { scheme: 'keys', value: 'ada' }],
    ['a key in the query', { scheme: 'queried', value: 'ada' }],
    ['a key in a cookie', { scheme: 'cookies', value: 'ada' }],
  ])('comes as %s', async (_, credential) => {
    const { authenticator } = tokens();
    const { open } = await servedAgent({ authenticator });
    const { task } = await open()
      .entrance.authenticate({ parameters: VERSION, credential })
      .sendMessage({ message: message('hi') });
    expect(await open().entrance.authenticate(bearer('ada')).getTask({ id: task.id })).toMatchObject({ id: task.id });
  });

  it('comes with the upgrade request, but never as a cookie', async () => {
    const { authenticator } = tokens();
    const { open } = await servedAgent({ authenticator });
    expect(await open({ authorization: 'Bearer ada' }).entrance.authenticate(HELLO).listTasks({})).toMatchObject({
      tasks: [],
    });
    expect(await refusal(open({ cookie: 'sid=ada' }).entrance.authenticate(HELLO))).toMatchObject({
      reason: 'UNAUTHENTICATED',
    });
  });

  it('of the hello counts, not that of the upgrade request', async () => {
    const { authenticator } = tokens();
    const { open } = await servedAgent({ authenticator });
    const { task } = await open()
      .entrance.authenticate(bearer('ada'))
      .sendMessage({ message: message('hi') });
    const { entrance } = open({ authorization: 'Bearer ada' });
    expect(await refusal(entrance.authenticate(bearer('eve')).getTask({ id: task.id }))).toMatchObject({
      reason: 'TASK_NOT_FOUND',
    });
    expect(await refusal(entrance.authenticate(bearer('eve')).task(task.id))).toMatchObject({
      reason: 'TASK_NOT_FOUND',
    });
  });

  it('that is refused names the schemes, and ends the connection at the third time', async () => {
    const { authenticator } = tokens();
    const { open } = await servedAgent({ authenticator });
    const { entrance, socket } = open();
    const closed = waitForClose(socket);
    for (const hello of [
      HELLO,
      bearer('bad'),
      { parameters: VERSION, credential: { scheme: 'no scheme', value: 'x' } },
    ]) {
      expect(await refusal(entrance.authenticate(hello))).toMatchObject({
        reason: 'UNAUTHENTICATED',
        details: [{ reason: 'UNAUTHENTICATED', metadata: { schemes: 'tokens, keys, queried, cookies' } }],
      });
    }
    expect(await closed).toEqual({ code: 1008, reason: 'Too many refused credentials' });
  });

  it('is asked for at each call, so that a revoked one stops working at once', async () => {
    const { authenticator, asked, revoke } = tokens();
    const { open } = await servedAgent({ authenticator, agent: asking });
    const { entrance, socket } = open();
    const closed = waitForClose(socket);
    const ada = entrance.authenticate(bearer('ada'));
    const { task } = await ada.sendMessage({ message: message('hi') });
    const held = ada.task(task.id);
    expect(await held.get()).toMatchObject({ id: task.id });
    expect(asked.length).toBeGreaterThan(3);
    const feed = itemsOf(await held.subscribe());
    revoke('ada');
    const refusals = [refusal(held.get()), refusal(ada.listTasks({})), refusal(feed)];
    for (const refused of await Promise.all(refusals)) expect(refused).toMatchObject({ reason: 'UNAUTHENTICATED' });
    expect(await closed).toEqual({ code: 4401, reason: 'The credential has expired or was revoked' });
  });

  it('that expires ends feeds and the connection', async () => {
    const { authenticator } = tokens(1_500);
    const { open } = await servedAgent({ authenticator, agent: asking });
    const { entrance, socket } = open();
    const closed = waitForClose(socket);
    const ada = entrance.authenticate(bearer('ada'));
    const { task } = await ada.sendMessage({ message: message('hi') });
    expect(await refusal(itemsOf(await ada.subscribeToTask({ id: task.id })))).toMatchObject({
      reason: 'UNAUTHENTICATED',
    });
    expect((await closed).code).toBe(4401);
  });

  it('is renewed by one of the same principal only, and feeds go on with it', async () => {
    const { authenticator, revoke } = tokens();
    const { open } = await servedAgent({ authenticator, agent: asking });
    const ada = open().entrance.authenticate(bearer('ada.1'));
    const { task } = await ada.sendMessage({ message: message('hi') });
    const feed = await ada.subscribeToTask({ id: task.id });
    const reader = feed.events.getReader();
    await reader.read();
    expect(await refusal(ada.renew({ scheme: 'tokens', value: 'eve' }))).toMatchObject({ reason: 'PERMISSION_DENIED' });
    expect(await refusal(ada.renew({ scheme: 'tokens', value: 'bad' }))).toMatchObject({ reason: 'UNAUTHENTICATED' });
    expect(await ada.renew({ scheme: 'tokens', value: 'ada.2' })).toEqual({});
    revoke('ada.1');
    expect(await ada.getTask({ id: task.id })).toMatchObject({ id: task.id });
    await ada.cancelTask({ id: task.id });
    expect((await reader.read()).value).toMatchObject({
      event: { statusUpdate: { status: { state: 'TASK_STATE_CANCELED' } } },
    });
    expect((await reader.read()).done).toBe(true);
  });

  it('is counted and written to the audit log at each call', async () => {
    const records: object[] = [];
    const { authenticator } = tokens();
    const { open } = await servedAgent({
      authenticator,
      audit: { write: (record: object) => void records.push(record) },
    });
    const ada = open().entrance.authenticate(bearer('ada'));
    await ada.listTasks({});
    await refusal(ada.getTask({ id: 'none' }));
    const principal = { kind: 'user', id: 't|ada' };
    expect(records).toMatchObject([
      { principal, path: '/a2a/capnweb', outcome: 'done' },
      { principal, binding: 'CAPNWEB', operation: 'listTasks', outcome: 'done' },
      { principal, binding: 'CAPNWEB', operation: 'getTask', code: 'TASK_NOT_FOUND' },
    ]);
  });

  it('has a principal whose rate limits its calls', async () => {
    const { authenticator } = tokens();
    const { open } = await servedAgent({
      authenticator,
      rateLimit: { perPrincipal: { requests: 2, windowMs: 60_000 } },
    } as object);
    const ada = open().entrance.authenticate(bearer('ada'));
    await ada.listTasks({});
    expect(await refusal(ada.listTasks({}))).toMatchObject({
      reason: 'RESOURCE_EXHAUSTED',
      retryAfterMs: expect.any(Number),
    });
  });
});

describe('a session', () => {
  it('keeps its tenant', async () => {
    const { authenticator } = tokens();
    const { open } = await servedAgent({ authenticator });
    const ada = open().entrance.authenticate({ ...bearer('ada'), tenant: 'x' });
    expect(await refusal(ada.listTasks({ tenant: 'y' }))).toMatchObject({
      reason: 'INVALID_PARAMS',
      details: [{}, { fieldViolations: [{ field: 'tenant' }] }],
    });
  });

  it.each([
    ['no hello', undefined],
    ['a text', 'hello'],
    ['parameters that are no object', { parameters: [] }],
    ['a parameter that is no text', { parameters: { ...VERSION, x: 1 } }],
    ['a parameter with a line break', { parameters: { ...VERSION, x: 'a\nb' } }],
    ['a name that no header has', { parameters: { ...VERSION, 'a b': 'x' } }],
    ['parameters that are too long', { parameters: { ...VERSION, x: 'x'.repeat(9000) } }],
    ['a credential without a value', { parameters: VERSION, credential: { scheme: 'tokens' } }],
    ['a function', { parameters: VERSION, credential: () => 1 }],
  ])('refuses %s', async (_, hello) => {
    const { open } = await servedAgent();
    expect(await refusal(open().entrance.authenticate(hello as object))).toMatchObject({ reason: 'INVALID_PARAMS' });
  });

  it('takes the address of a client from its proxy, and from no parameter', async () => {
    const seen: (string | undefined)[] = [];
    const authenticator: Authenticator = {
      challenges: ['Bearer'],
      optional: true,
      authenticate: (credentials) => {
        seen.push(credentials.clientGroup);
        return { kind: 'anonymous' };
      },
    };
    const { open } = await servedAgent({ authenticator, trustProxy: ['loopback'] });
    const parameters = { ...VERSION, 'X-Forwarded-For': '192.0.2.66' };
    await open({ 'x-forwarded-for': '192.0.2.1' }).entrance.authenticate({ parameters }).listTasks({});
    expect(new Set(seen)).toEqual(new Set(['192.0.2.1']));
  });
});
