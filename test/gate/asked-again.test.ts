import { beforeAll, describe, expect, it } from 'vitest';
import type { Authentication } from '../../packages/parley/src/auth/authenticator.js';
import { allOf } from '../../packages/parley/src/auth/combinations.js';
import { ClientCertificates } from '../../packages/parley/src/auth/schemes/client-certificates.js';
import type { User } from '../../packages/parley/src/auth/user.js';
import { A2AError } from '../../packages/parley/src/errors/a2a-error.js';
import { BoundAgent, HELLO } from '../../packages/parley/test/bound-agent.js';
import { textOf } from '../../packages/parley/test/exchange-request.js';
import { ManualClock } from '../../packages/parley/test/manual-clock.js';
import { EVENTS } from '../../packages/parley/test/recording-handler.js';

const MINUTE = 60_000;
const HOUR = 3_600_000;
const user = { id: 'test|ada' };

// The gate loads this code at the first question, which takes real time.
beforeAll(async () => void (await import('../../packages/parley/src/app/middleware/ask-again.js')));

type Answer = (at: number) => Authentication | Promise<Authentication>;

/** Opens a stream whose credential is checked again each minute. `answer`: the result of later checks. */
async function streamOf(answer: Answer, first: { readonly revoked?: AbortSignal; readonly user?: User } = {}) {
  const asked: number[] = [];
  const authenticate = (): Authentication | Promise<Authentication> => {
    const now = agent.clock.now();
    asked.push(now);
    if (asked.length > 1) return answer(now);
    return { kind: 'user', user, askAgainAt: now + MINUTE, ...first } as Authentication;
  };
  const agent = new BoundAgent({ authenticator: { challenges: ['Bearer'], authenticate } });
  agent.handler.behaviours.sendStreamingMessage = async function* () {
    yield EVENTS[0];
    await new Promise(() => {});
  };
  const response = await agent.call('POST /message:stream', { body: HELLO });
  expect(response.status).toBe(200);
  let text: string | undefined;
  const read = textOf(response).then((whole) => {
    text = whole;
  });
  /** Lets time pass in steps of a second, as timers do. */
  const pass = async (ms: number) => {
    for (let at = 0; at < ms; at += 1_000) {
      await agent.clock.advance(1_000);
      for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
    }
  };
  return { agent, asked, pass, read, isOpen: () => text === undefined, text: () => text };
}

const answerUser: Answer = (now) => ({ kind: 'user', user, askAgainAt: now + MINUTE });

describe('the credential of a stream is asked for again', () => {
  it('as often as its authenticator says, and the stream goes on while it counts', async () => {
    const { asked, pass, isOpen } = await streamOf(answerUser);
    await pass(5 * MINUTE + 30_000);
    expect([asked.length, isOpen()]).toEqual([6, true]);
  });

  it.each<[string, Answer]>([
    ['is refused', () => ({ kind: 'refused', reason: 'revoked' })],
    ['lacks a scope', () => ({ kind: 'refused', reason: 'x', missingScopes: ['read'] })],
    ['is of another user', (now) => ({ kind: 'user', user: { id: 'test|bob' }, askAgainAt: now + MINUTE })],
    ['is not there any more', () => ({ kind: 'anonymous' })],
    ['has expired', (now) => ({ kind: 'user', user: { ...user, expiresAt: now } })],
    ['is revoked', () => ({ kind: 'user', user, revoked: AbortSignal.abort() })],
    ['has an end that is no number', () => ({ kind: 'user', user: { ...user, expiresAt: '2099-01-01' } }) as never],
    ['is to be asked for at a text', () => ({ kind: 'user', user, askAgainAt: '2099-01-01' }) as never],
    ['has a list that is a text', () => ({ kind: 'user', user: { ...user, scopes: 'read' } }) as never],
    ['is refused by an error', () => Promise.reject(new A2AError('UNAUTHENTICATED', 'no'))],
  ])('and the stream ends if it %s', async (_, answer) => {
    const { agent, pass, read, text, isOpen } = await streamOf(answer);
    await pass(59_000);
    expect(isOpen()).toBe(true);
    await pass(3_000);
    await read;
    expect(text()).toContain('UNAUTHENTICATED');
    expect(agent.clock.pendingTimers).toBe(0);
  });

  it.each<[string, Partial<User>, Partial<User>]>([
    ['a scope', { scopes: ['read', 'write'] }, { scopes: ['read'] }],
    ['all scopes', { scopes: ['read'] }, {}],
    ['a permission', { permissions: ['admin'] }, { permissions: [] }],
    ['a tenant', { tenants: ['a', 'b'] }, { tenants: ['b'] }],
    ['its list of tenants', { tenants: ['a'] }, {}],
    ['tenants without a list', {}, { tenants: ['a'] }],
    ['tenants without a rule', { tenants: ['a'] }, { tenants: ['a'], needsTenantRule: true }],
  ])('and the stream ends if its user has lost %s', async (_, before, now) => {
    const first = { user: { ...user, ...before } };
    const { pass, read, text } = await streamOf(() => ({ kind: 'user', user: { ...user, ...now } }), first);
    await pass(62_000);
    await read;
    expect(text()).toContain('UNAUTHENTICATED');
  });

  it('and the stream goes on if its user has got more rights', async () => {
    const more: Answer = () => ({ kind: 'user', user: { ...user, scopes: ['read', 'write'], tenants: ['a', 'b'] } });
    const { pass, isOpen } = await streamOf(more, { user: { ...user, scopes: ['read'], tenants: ['a'] } });
    await pass(3 * MINUTE);
    expect(isOpen()).toBe(true);
  });

  it('also while the authenticator does not answer', async () => {
    const revocation = new AbortController();
    const { agent, pass, read, text } = await streamOf(() => new Promise(() => {}), { revoked: revocation.signal });
    await pass(62_000);
    revocation.abort();
    await read;
    expect(text()).toContain('UNAUTHENTICATED');
    expect(agent.clock.pendingTimers).toBe(0);
  });

  it('at most once a second, whatever the authenticator says', async () => {
    const { asked, pass, isOpen } = await streamOf(() => ({ kind: 'user', user, askAgainAt: 0 }));
    await pass(70_000);
    expect(asked.length).toBeGreaterThan(2);
    expect([asked.length <= 12, isOpen()]).toEqual([true, true]);
  });

  it('and the stream goes on for an hour at most if the authenticator cannot tell', async () => {
    const { asked, pass, isOpen, read, text } = await streamOf(() =>
      Promise.reject(new A2AError('UNAVAILABLE', 'later')),
    );
    await pass(HOUR - MINUTE);
    expect(isOpen()).toBe(true);
    await pass(3 * MINUTE);
    await read;
    expect(text()).toContain('UNAUTHENTICATED');
    expect(asked.length).toBeLessThan(HOUR / 10_000 + 20);
  });

  it('and that of a call that has ended is not', async () => {
    const { agent, asked, pass } = await streamOf(answerUser);
    const ended = await agent.call('POST /message:send', { body: HELLO });
    expect([ended.status, asked.length]).toEqual([200, 2]);
    await pass(61_000);
    expect(asked.length).toBe(3);
  });
});

describe('a rule for certificates', () => {
  const certificate = () => ({ subject: { CN: ['ada'] }, dnsNames: [], uris: [], emails: [] });

  it('that is a function is asked again after a minute, on the same connection', async () => {
    const clock = new ManualClock();
    const subjects: (string | undefined)[] = ['ada', 'ada', undefined];
    let asked = 0;
    const authenticator = new ClientCertificates({
      clock,
      users: () => {
        const subject = subjects[asked++];
        return subject === undefined ? undefined : { subject };
      },
    });
    const connection = certificate();
    const kind = () =>
      authenticator.authenticate({ query: '', header: () => undefined, clientCertificate: connection }).kind;
    expect([kind(), kind(), asked]).toEqual(['user', 'user', 1]);
    await clock.advance(MINUTE);
    expect([kind(), asked]).toEqual(['user', 2]);
    await clock.advance(MINUTE);
    expect([kind(), kind(), asked]).toEqual(['refused', 'refused', 3]);
  });

  it('asks as early as the earliest member of allOf does', async () => {
    const member = (name: string, askAgainAt?: number) => ({
      challenges: [name],
      authenticate: (): Authentication => ({ kind: 'user', user, ...(askAgainAt !== undefined && { askAgainAt }) }),
    });
    const credentials = { query: '', header: () => undefined };
    const joined = await allOf(member('a', 500), member('b', 400), member('c')).authenticate(credentials);
    expect(joined).toMatchObject({ askAgainAt: 400 });
  });
});
