import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ApiKeys } from 'parley-a2a/auth';
import { connect } from 'parley-a2a/client';
import { apiKey } from 'parley-a2a/credentials';
import { createA2AServer } from 'parley-a2a/node';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { CredentialEnds } from '../../packages/parley/src/app/middleware/credential-ends.js';
import type { Authentication } from '../../packages/parley/src/auth/authenticator.js';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { BoundAgent, HELLO } from '../../packages/parley/test/bound-agent.js';
import { jsonOf, textOf } from '../../packages/parley/test/exchange-request.js';
import { ManualClock } from '../../packages/parley/test/manual-clock.js';
import { EVENTS } from '../../packages/parley/test/recording-handler.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const BINDINGS = ['JSONRPC', 'HTTP+JSON'] as const;
type Binding = (typeof BINDINGS)[number];

/** An agent whose callers have a credential with an end. */
function agentFor(end: { readonly lastsMs?: number; readonly revoked?: AbortSignal }) {
  const agent: BoundAgent = new BoundAgent({
    authenticator: {
      challenges: ['Bearer'],
      authenticate: (): Authentication => {
        const expiresAt = end.lastsMs === undefined ? undefined : agent.clock.now() + end.lastsMs;
        const user = { id: 'test|ada', ...(expiresAt !== undefined && { expiresAt }) };
        return { kind: 'user', user, ...(end.revoked && { revoked: end.revoked }) };
      },
    },
  });
  const send = (binding: Binding) =>
    binding === 'JSONRPC' ? agent.rpc('SendMessage', HELLO) : agent.call('POST /message:send', { body: HELLO });
  const stream = (binding: Binding) =>
    binding === 'JSONRPC'
      ? agent.rpc('SendStreamingMessage', HELLO)
      : agent.call('POST /message:stream', { body: HELLO });
  return { agent, send, stream };
}

const ERRORS = {
  JSONRPC: { jsonrpc: '2.0', id: 1, error: { code: -31401 } },
  'HTTP+JSON': { error: { code: 401, status: 'UNAUTHENTICATED' } },
};

/** The last event of a stream. */
function lastEvent(text: string): unknown {
  return JSON.parse(text.trimEnd().split('data: ').at(-1) ?? '');
}

describe.each(BINDINGS)('over %s', (binding) => {
  it('a stream ends with an error when the credential expires, and its source is released', async () => {
    const { agent, stream } = agentFor({ lastsMs: 60_500 });
    let released = false;
    agent.handler.behaviours.sendStreamingMessage = async function* () {
      try {
        yield EVENTS[0];
        await new Promise(() => {});
      } finally {
        released = true;
      }
    };
    const answer = await stream(binding);
    expect(answer.status).toBe(200);
    const read = textOf(answer);
    await agent.clock.advance(60_000);
    expect(released).toBe(false);
    await agent.clock.advance(1_000);
    expect(lastEvent(await read)).toMatchObject(ERRORS[binding]);
    expect(agent.clock.pendingTimers).toBe(0);
  });

  it('a stream ends with an error when the credential is revoked, also before its first event', async () => {
    for (const first of [EVENTS[0], undefined]) {
      const revocation = new AbortController();
      const { agent, stream } = agentFor({ revoked: revocation.signal });
      agent.handler.behaviours.sendStreamingMessage = async function* () {
        if (first !== undefined) yield first;
        await new Promise(() => {});
      };
      const opening = stream(binding);
      if (first === undefined) {
        await agent.clock.settle();
        revocation.abort();
        const answer = await opening;
        expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, 'Bearer']);
      } else {
        const read = textOf(await opening);
        revocation.abort();
        expect(lastEvent(await read)).toMatchObject(ERRORS[binding]);
      }
    }
  });

  it('a waiting call answers 401 when the credential ends, and its work goes on', async () => {
    const { agent, send } = agentFor({ lastsMs: 5_000 });
    const work = Promise.withResolvers<object>();
    agent.handler.behaviours.sendMessage = () => work.promise;
    const sent = send(binding);
    await agent.clock.settle();
    await agent.clock.advance(6_000);
    const answer = await sent;
    expect([answer.status, await jsonOf(answer)]).toMatchObject([401, ERRORS[binding]]);
    expect(agent.handler.calls[0]?.context.signal.aborted).toBe(false);
    work.reject(new Error('late'));
    await agent.clock.settle();
  });

  it('calls and streams that end before their credential leave nothing behind', async () => {
    const { agent, send, stream } = agentFor({ lastsMs: 5_000, revoked: new AbortController().signal });
    expect((await send(binding)).status).toBe(200);
    expect(lastEvent(await textOf(await stream(binding)))).not.toHaveProperty('error');
    await agent.clock.advance(10_000);
    expect(agent.clock.pendingTimers).toBe(0);
  });

  it('an ended credential is refused, whatever its authenticator says', async () => {
    expect((await agentFor({ lastsMs: 0 }).send(binding)).status).toBe(401);
    expect((await agentFor({ revoked: AbortSignal.abort() }).send(binding)).status).toBe(401);
  });
});

describe('the ends of many credentials', () => {
  it('take one timer, also for credentials that end earlier than those before', async () => {
    const clock = new ManualClock();
    const ends = new CredentialEnds(clock);
    const ended: number[] = [];
    for (const ms of [90_000, 30_000, 500, 30_000, 86_400_000]) {
      ends.watch({ expiresAt: clock.now() + ms }, () => ended.push(ms));
    }
    expect(clock.pendingTimers).toBe(1);
    await clock.advance(1_000);
    expect(ended).toEqual([500]);
    await clock.advance(30_000);
    expect(ended).toEqual([500, 30_000, 30_000]);
    await clock.advance(60_000);
    expect(ended).toEqual([500, 30_000, 30_000, 90_000]);
    expect(clock.pendingTimers).toBe(1);
    await clock.advance(86_400_000);
    expect(ended.at(-1)).toBe(86_400_000);
    expect(clock.pendingTimers).toBe(0);
  });

  it('reach each listener once, and no listener that has stopped', () => {
    const clock = new ManualClock();
    const ends = new CredentialEnds(clock);
    const revocation = new AbortController();
    const heard: string[] = [];
    ends.watch({ expiresAt: clock.now() + 1, revoked: revocation.signal }, () => heard.push('both'));
    const stop = ends.watch({ revoked: revocation.signal }, () => heard.push('stopped'));
    stop();
    revocation.abort();
    ends.watch({ revoked: revocation.signal }, () => heard.push('late'));
    expect(heard).toEqual(['both', 'late']);
  });
});

it('a removed API key ends the streams of its user, and no other', async () => {
  const ada = { key: 'key-of-ada-0123456789', subject: 'ada' };
  const bob = { key: 'key-of-bob-0123456789', subject: 'bob' };
  const keys = new ApiKeys([ada, bob]);
  const held = Promise.withResolvers<void>();
  const server = createA2AServer({
    agent: async (prompt: string) => {
      await held.promise;
      return prompt;
    },
    authenticator: keys,
    logger: silentLogger,
  });
  onTestFinished(() => server.close({ graceMs: 0 }));
  const { url } = await server.listen(0);
  const open = async (key: string) => {
    const client = await connect(url, { credentials: apiKey(key) });
    const stream = client.sendStreamingMessage('hello')[Symbol.asyncIterator]();
    await stream.next();
    return stream;
  };
  const [ofAda, ofBob] = await Promise.all([open(ada.key), open(bob.key)]);
  const toEnd = async (stream: AsyncIterator<object>) => {
    const events: object[] = [];
    for (let next = await stream.next(); next.done !== true; next = await stream.next()) events.push(next.value);
    return events;
  };
  const ended = toEnd(ofAda).catch((error: { code?: string }) => error.code);
  await keys.replace([bob]);
  expect(await ended).toBe('UNAUTHENTICATED');
  held.resolve();
  expect(JSON.stringify(await toEnd(ofBob))).toContain('TASK_STATE_COMPLETED');
});

describe('a signal that several credentials have together', () => {
  /** Node.js keeps a joined signal for ever while it has a listener. */
  it('is released after its calls', async () => {
    const ends = new CredentialEnds(new ManualClock());
    const member = new AbortController();
    const watched = Array.from({ length: 5_000 }, () => {
      const joined = AbortSignal.any([member.signal]);
      ends.watch({ revoked: joined }, () => {})();
      return new WeakRef(joined);
    });
    await vi.waitFor(() => {
      collect();
      // The last ones are released when others come.
      expect(watched.filter((one) => one.deref() !== undefined).length).toBeLessThan(1_100);
    }, 15_000);
  });

  it('ends the calls that run, however many others have come and gone', () => {
    const ends = new CredentialEnds(new ManualClock());
    const member = new AbortController();
    const ended: string[] = [];
    ends.watch({ revoked: AbortSignal.any([member.signal]) }, () => ended.push('first'));
    const own = new AbortController();
    for (let call = 0; call < 5_000; call++) ends.watch({ revoked: new AbortController().signal }, () => {})();
    ends.watch({ revoked: own.signal }, () => ended.push('own'))();
    ends.watch({ revoked: own.signal }, () => ended.push('again'));
    member.abort();
    own.abort();
    expect(ended).toEqual(['first', 'again']);
  });
});
