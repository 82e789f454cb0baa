import { describe, expect, it } from 'vitest';
import {
  type ClientCallContext,
  type CredentialProvider,
  connect,
  type Interceptor,
  type Logger,
} from '../../packages/parley/src/exports/client.js';
import { result, StubAgent, task } from './stub-agent.js';

const answered = result({ task: task() });

describe('interceptors', () => {
  it('see every call, the first one outermost, and may change it', async () => {
    const seen: string[] = [];
    const recordCalls =
      (name: string): Interceptor<ClientCallContext> =>
      (call, next) => {
        seen.push(`${name} ${call.operation} ${call.context.headers['x-from'] ?? '-'}`);
        return next({ ...call, context: { ...call.context, headers: { ...call.context.headers, 'x-from': name } } });
      };
    await using stub = await StubAgent.start(() => answered);
    const client = await connect(stub.card(), { interceptors: [recordCalls('a'), recordCalls('b')] });
    await client.sendMessage('hi');
    for await (const _ of client.sendStreamingMessage('hi')) seen.push('event');
    expect(seen).toEqual([
      'a sendMessage -',
      'b sendMessage a',
      'a sendStreamingMessage -',
      'b sendStreamingMessage a',
      'event',
    ]);
    expect(stub.calls.map(({ headers }) => headers['x-from'])).toEqual(['b', 'b']);
  });

  it('may answer themselves, and watch what comes', async () => {
    const watched: unknown[] = [];
    const watchStream: Interceptor<ClientCallContext> = (call, next) => {
      const outcome = next(call);
      if (!(Symbol.asyncIterator in outcome)) return outcome;
      return (async function* () {
        for await (const event of outcome) {
          watched.push(event);
          yield event;
        }
      })();
    };
    const answerFromCache: Interceptor<ClientCallContext> = (call, next) =>
      call.operation === 'getTask' ? Promise.resolve(task('TASK_STATE_WORKING') as never) : next(call);
    await using stub = await StubAgent.start(() => answered);
    const client = await connect(stub.card(), { interceptors: [watchStream, answerFromCache] });
    expect(await client.getTask('t1')).toMatchObject({ status: { state: 'TASK_STATE_WORKING' } });
    expect(stub.calls).toHaveLength(0);
    for await (const event of client.sendStreamingMessage('hi')) expect(watched).toEqual([event]);
  });
});

describe('credentials', () => {
  const token = (current: () => string): CredentialProvider => ({
    credentials: async () => ({ headers: { authorization: `Bearer ${current()}` }, query: { k: 'v' } }),
  });
  const startGuardedAgent = () =>
    StubAgent.start(({ headers }) =>
      headers.authorization === 'Bearer new'
        ? answered
        : { status: 401, headers: { 'www-authenticate': 'Bearer' }, body: { message: 'who?' } },
    );

  it('go with every call, in headers and in the query', async () => {
    await using stub = await startGuardedAgent();
    const client = await connect(stub.card(), { credentials: token(() => 'new') });
    await client.sendMessage('hi');
    for await (const _ of client.sendStreamingMessage('hi'));
    expect(stub.calls.map(({ url, headers }) => [url, headers.authorization])).toEqual(
      Array(2).fill(['/?k=v', 'Bearer new']),
    );
  });

  it('are renewed once when they are refused', async () => {
    let current = 'old';
    let refusals = 0;
    const renewing: CredentialProvider = {
      ...token(() => current),
      refused: async ({ url }, { challenges }) => {
        expect(challenges).toEqual(['Bearer']);
        expect(url).toMatch(/^http/);
        refusals += 1;
        current = refusals === 1 ? 'new' : 'other';
        return true;
      },
    };
    await using stub = await startGuardedAgent();
    const client = await connect(stub.card(), { credentials: renewing });
    expect(await client.sendMessage('hi')).toEqual({ task: task() });
    current = 'old';
    await expect(client.sendMessage('hi')).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(stub.calls).toHaveLength(4);
  });

  it('are sent to no origin but that of the card, unless it is trusted', async () => {
    await using api = await startGuardedAgent();
    await using stub = await StubAgent.start(({ method }) => (method === 'GET' ? { body: api.card() } : answered));
    const credentials = token(() => 'new');
    const card = `${stub.url}/card.json`;
    await expect((await connect(card, { credentials })).sendMessage('hi')).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
    });
    expect(api.calls[0]?.headers.authorization).toBeUndefined();
    expect(api.calls[0]?.url).toBe('/');
    const trusting = await connect(card, { credentials, trustedOrigins: [api.url] });
    expect(await trusting.sendMessage('hi')).toEqual({ task: task() });
  });
});

it('the log tells of calls, and no secrets', async () => {
  const lines: string[] = [];
  const line = (message: string, fields?: object): void =>
    void lines.push(
      `${message} ${JSON.stringify(fields)} ${String((fields as { error?: Error } | undefined)?.error?.message ?? '')}`,
    );
  const logger: Logger = { debug: line, info: line, warn: line, error: line };
  await using stub = await StubAgent.start(({ number }) =>
    number % 2 === 1 ? { status: 503, headers: { 'retry-after': '0' } } : answered,
  );
  const credentials: CredentialProvider = {
    credentials: async () => ({ headers: { authorization: 'Bearer s3cret' }, query: { key: 's3cret' } }),
  };
  const client = await connect(stub.card(), {
    credentials,
    logger,
    headers: { 'x-own': 's3cret' },
    retry: { firstMs: 1 },
  });
  await client.sendMessage('s3cret');
  expect(lines.map((text) => text.split(' {')[0])).toEqual(['call failed', 'sending again', 'called']);
  expect(lines.join('\n')).not.toContain('s3cret');
});
