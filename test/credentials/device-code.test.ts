import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DeviceCodePrompt, deviceCode } from '../../packages/parley/src/auth/oauth/device-code.js';
import type { AgentCard } from '../../packages/parley/src/exports/index.js';
import { ManualClock } from '../../packages/parley/test/manual-clock.js';
import { type AuthorizationServer, startAuthorizationServer } from './authorization-server.js';
import { Person } from './person.js';

let idp: AuthorizationServer;
beforeEach(async () => {
  idp = await startAuthorizationServer();
});
afterEach(() => idp.close());

/** A clock whose timers fire a little early, as those of a machine do. */
class EarlyClock extends ManualClock {
  override after(ms: number, task: () => void): () => void {
    return super.after(ms - 0.5, task);
  }
}

/** A device login with the clock of the test, which releases each poll. */
function device(clock = new ManualClock()) {
  const prompts: DeviceCodePrompt[] = [];
  let polls = 0;
  const credentials = deviceCode(
    { issuer: idp.issuer, clientId: 'television', scopes: ['openid'], show: (prompt) => void prompts.push(prompt) },
    {
      clock,
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        if (url.endsWith('/token')) polls += 1;
        return response;
      },
    },
  );
  const leaving = new AbortController();
  const target = { card: { securitySchemes: {} } as AgentCard, url: 'https://agent.example', signal: leaving.signal };
  const token = credentials.credentials(target);
  const outcome = token.then(
    ({ headers }) => headers?.authorization,
    (error: unknown) => error,
  );
  return {
    clock,
    prompts,
    outcome,
    leaving,
    get polls() {
      return polls;
    },
    /** Lets time pass, and waits until the device waits again or is done. */
    async after(ms: number): Promise<void> {
      const before = polls;
      await waitForTimer(clock);
      await clock.advance(ms);
      await until(() => polls > before);
    },
    async quietFor(ms: number): Promise<void> {
      const before = polls;
      await waitForTimer(clock);
      await clock.advance(ms);
      expect(polls).toBe(before);
    },
  };
}

/** One timer: the pause; a request under way has another one. */
async function waitForTimer(clock: ManualClock): Promise<void> {
  await until(() => clock.pendingTimers === 1);
  await clock.settle();
}

async function until(holds: () => boolean): Promise<void> {
  const deadline = Date.now() + 15_000;
  while (!holds()) {
    if (Date.now() > deadline) throw new Error('never happened');
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const answer = (status: number, body: object) => (path: string) =>
  path === '/token' ? { status, body: JSON.stringify(body) } : undefined;

describe('a person with another device', () => {
  it('is waited for at the pace that the authorization server sets', async () => {
    const tv = device();
    await until(() => tv.prompts.length === 1);
    await tv.quietFor(4_999);
    await tv.after(1);
    await tv.after(5_000);
    idp.interfere(answer(400, { error: 'slow_down' }));
    await tv.after(5_000);
    idp.interfere(undefined);
    await tv.quietFor(9_999);
    await tv.after(1);
    const [{ verificationUri, userCode } = { verificationUri: '', userCode: '' }] = tv.prompts;
    await new Person().agree(verificationUri, { user_code: userCode });
    await tv.after(10_000);
    expect(await tv.outcome).toMatch(/^Bearer .{20,}$/);
    expect(tv.polls).toBe(5);
    expect(tv.clock.pendingTimers).toBe(0);
  });

  it('is waited for also where the authorization server is in trouble, but less often', async () => {
    const tv = device();
    await until(() => tv.prompts.length === 1);
    idp.interfere((path) => (path === '/token' ? { status: 503, body: 'busy' } : undefined));
    await tv.after(5_000);
    idp.interfere(undefined);
    await tv.quietFor(9_999);
    const [{ verificationUri, userCode } = { verificationUri: '', userCode: '' }] = tv.prompts;
    await new Person().agree(verificationUri, { user_code: userCode });
    await tv.after(1);
    expect(await tv.outcome).toMatch(/^Bearer /);
  });

  it('may say no', async () => {
    const tv = device();
    await until(() => tv.prompts.length === 1);
    idp.interfere(answer(400, { error: 'access_denied' }));
    await tv.after(5_000);
    expect(await tv.outcome).toMatchObject({ fault: 'refused', message: expect.stringMatching(/: access_denied$/) });
  });

  it.each([
    ['', () => new ManualClock()],
    [' by a timer that fires early', () => new EarlyClock()],
  ])('is not waited for longer than the code is good%s', async (_, clock) => {
    await idp.close();
    idp = await startAuthorizationServer({ deviceCodeS: 12 });
    const tv = device(clock());
    await until(() => tv.prompts.length === 1);
    expect((tv.prompts[0] as DeviceCodePrompt).expiresAt - tv.clock.now()).toBe(12_000);
    await tv.after(5_000);
    await tv.after(5_000);
    await tv.quietFor(5_000);
    expect(await tv.outcome).toMatchObject({ fault: 'refused', message: expect.stringMatching(/: expired_token$/) });
  });

  it('is no longer waited for when nobody needs the token', async () => {
    const tv = device();
    await until(() => tv.prompts.length === 1);
    await waitForTimer(tv.clock);
    tv.leaving.abort(new Error('never mind'));
    expect(await tv.outcome).toMatchObject({ message: 'never mind' });
    await until(() => tv.clock.pendingTimers === 0);
    expect(tv.polls).toBe(0);
  });
});
