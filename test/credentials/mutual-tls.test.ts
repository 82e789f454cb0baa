import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type MutualTlsOptions, mutualTls, type TlsIdentity } from '../../packages/mutual-tls/src/index.js';
import { connect, memoryCardCache } from '../../packages/parley/src/exports/client.js';
import { bearerToken, combineCredentials } from '../../packages/parley/src/exports/credentials.js';
import { type Authority, makeAuthority } from './certificates.js';
import { startTlsAgent, type TlsAgent } from './tls-agent.js';

let authority: Authority;
let strict: TlsAgent;
let curious: TlsAgent;
let ada: TlsIdentity;

beforeAll(async () => {
  authority = makeAuthority('Test authority');
  ada = { ...authority.client('ada'), ca: authority.ca };
  strict = await startTlsAgent({ authority, requires: true });
  curious = await startTlsAgent({ authority, requires: false });
});

afterAll(async () => {
  await strict.close();
  await curious.close();
});

function tls(options: Partial<MutualTlsOptions> = {}) {
  const made = mutualTls({ origins: [strict.url], identity: ada, ...options });
  onTestFinished(() => made.close());
  return made;
}

async function callerOf(url: string, { credentials, fetch }: Pick<ReturnType<typeof tls>, 'credentials' | 'fetch'>) {
  const client = await connect(url, { credentials, fetch, cardCache: memoryCardCache() });
  const answer = await client.ask('who am I?');
  if (answer.task === undefined) throw new Error('no task');
  const parts = answer.task.artifacts?.flatMap((artifact) => artifact.parts) ?? [];
  return parts.map((part) => (part.text !== undefined ? part.text : '')).join('');
}

describe('a client with a certificate', () => {
  it('is known by it, in calls and in streams', async () => {
    const { credentials, fetch } = tls();
    expect(await callerOf(strict.url, { credentials, fetch })).toBe('called by ada');
    const client = await connect(strict.url, { credentials, fetch });
    const states: string[] = [];
    for await (const event of client.sendStreamingMessage('stream')) {
      if (event.statusUpdate !== undefined) states.push(event.statusUpdate.status.state);
    }
    expect(states.at(-1)).toBe('TASK_STATE_COMPLETED');
  });

  it('cannot even connect without it where it is required', async () => {
    const { credentials, fetch } = tls({ origins: [] });
    await expect(callerOf(strict.url, { credentials, fetch })).rejects.toThrow(/cannot be reached|no card/i);
  });

  it('shows it to no other origin', async () => {
    const { credentials, fetch } = tls();
    const usual = getCACertificates('default');
    setDefaultCACertificates([...usual, authority.ca]);
    onTestFinished(() => setDefaultCACertificates(usual));
    const other = tls({ origins: [curious.url] });
    expect(await callerOf(curious.url, other)).toBe('called by ada');
    expect(new Set(curious.seen)).toEqual(new Set(['ada']));
    const seen = curious.seen.length;
    await expect(callerOf(curious.url, { credentials, fetch })).rejects.toMatchObject({
      name: 'CredentialsError',
      message: `The certificate is for ${strict.url}, not for ${curious.url}`,
    });
    // The card was asked for, on a connection without a certificate.
    expect(new Set(curious.seen.slice(seen))).toEqual(new Set([undefined]));
  });

  it('uses a renewed certificate for new connections', async () => {
    const grace = { ...authority.client('grace'), ca: authority.ca };
    let identity = ada;
    const options = { identity: () => identity };
    expect(await callerOf(strict.url, tls(options))).toBe('called by ada');
    identity = grace;
    expect(await callerOf(strict.url, tls(options))).toBe('called by grace');
  });

  it('goes together with what else it has', async () => {
    const { credentials, fetch } = tls();
    const both = combineCredentials(bearerToken('t1'), credentials);
    expect(await callerOf(strict.url, { credentials: both, fetch })).toBe('called by ada');
  });
});

describe('a certificate that cannot be used', () => {
  it('is refused at once, and its key not shown', async () => {
    const other = authority.client('eve');
    const key = `${other.key.slice(0, 60)}!${other.key.slice(61)}`;
    for (const identity of [
      { ...ada, key: other.key },
      { ...ada, key },
      { ...ada, cert: 'none' },
    ]) {
      const failure = thrownBy(() => mutualTls({ origins: [strict.url], identity }));
      expect(failure).toMatchObject({ name: 'OptionsError', message: expect.stringContaining('cannot be used') });
      expect(inspect(failure, { depth: 9, showHidden: true })).not.toContain(key.slice(30, 60));
    }
    expect(() => mutualTls({ origins: ['http://a.example', 'https://b.example/x'], identity: ada })).toThrow(
      /http:\/\/a\.example is no origin of https; origins: https:\/\/b\.example\/x is no/,
    );
  });

  it('fails the call where it comes from a function, its key not shown', async () => {
    const { key } = authority.client('eve');
    const made = tls({ identity: () => ({ ...ada, key }) });
    const failure = await callerOf(strict.url, made).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Error);
    expect(inspect(failure, { depth: 9, showHidden: true })).not.toContain(key.slice(30, 60));
  });
});

function thrownBy(code: () => unknown): unknown {
  try {
    code();
  } catch (error) {
    return error;
  }
  return undefined;
}
