import { writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signer, textOf } from '../client/card-signer.js';
import { makeAuthority } from '../credentials/certificates.js';
import { EmptyFolder, parley } from './parley.js';
import { plainCard, RecordingAgent, result } from './recording-agent.js';

/** Makes a key in a file, and a signer with it. */
async function makeKey(folder: EmptyFolder, kid: string) {
  const { jwk, sign } = await signer(kid);
  const path = join(folder.path, `${kid}.json`);
  writeFileSync(path, JSON.stringify(jwk));
  return {
    jwk,
    path,
    sign: async (card: object, header: object = {}) => ({ ...card, signatures: [await sign(textOf(card), header)] }),
  };
}

describe('signed cards', () => {
  const folder = new EmptyFolder();
  let ours: Awaited<ReturnType<typeof makeKey>>;
  let other: Awaited<ReturnType<typeof makeKey>>;
  let signed: RecordingAgent;
  let unsigned: RecordingAgent;
  beforeAll(async () => {
    ours = await makeKey(folder, 'ours');
    other = await makeKey(folder, 'other');
    const cards: { own?: object; extended?: object } = {};
    signed = await RecordingAgent.start({
      card: () => cards.own ?? {},
      answer: ({ body }) => {
        const { method } = body as { method: string };
        return method === 'GetExtendedAgentCard' ? result(cards.extended) : result({ task: TASK });
      },
    });
    const own = { ...plainCard(signed.url), capabilities: { extendedAgentCard: true } };
    cards.own = await ours.sign(own);
    cards.extended = { ...own, name: 'Extended' };
    unsigned = await RecordingAgent.start({ card: { verification: { status: 'verified' } } });
  });
  afterAll(async () => {
    await signed[Symbol.asyncDispose]();
    await unsigned[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  const TASK = { id: 't1', contextId: 'c1', status: { state: 'TASK_STATE_COMPLETED' } };
  const get = async (agent: RecordingAgent, ...args: string[]) => {
    const { stdout, stderr, code } = await parley(['card', 'get', agent.url, '-o', 'json', ...args]);
    return { card: JSON.parse(stdout), stderr, code };
  };

  it('CARD_GET_004: card get prints verified and the key', async () => {
    const { card, code } = await get(signed, '--card-key', other.path, '--card-key', ours.path);
    expect(card).toMatchObject({
      name: 'Recorder',
      verification: { status: 'verified', signatures: [{ kid: 'ours' }] },
    });
    expect(code).toBe(0);
    const text = await parley(['card', 'get', signed.url], { env: { A2ACLI_CARD_KEY: `${other.path},${ours.path}` } });
    expect(text.stdout).toMatch(/^Signatures: verified \(ours, ES256\)$/m);
  });

  it('CARD_GET_004: an unverifiable card is printed as such, and fails', async () => {
    const { card, stderr, code } = await get(signed, '--card-key', other.path);
    expect(card).toMatchObject({
      name: 'Recorder',
      verification: {
        status: 'unverifiable',
        signatures: [{ kid: 'ours', fault: expect.stringContaining('no trusted key') }],
      },
    });
    expect(stderr).toMatch(/^warning: no signature of the card is valid/);
    expect(code).toBe(1);
    const text = await parley(['card', 'get', signed.url, '--card-key', other.path]);
    expect(text.stdout).toMatch(/^Signatures: unverifiable; ours, ES256: no trusted key/m);
  });

  it('CARD_GET_004: a card without signatures is printed as such, and does not fail', async () => {
    const { card, stderr, code } = await get(unsigned, '--card-key', ours.path);
    expect(card).toMatchObject({ name: 'Recorder', verification: { status: 'absent', signatures: [] } });
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
    expect((await parley(['card', 'get', unsigned.url, '--card-key', ours.path])).stdout).toMatch(
      /^Signatures: absent$/m,
    );
  });

  it('CARD_GET_004: without a key no card is printed as verified, even if it claims to be', async () => {
    expect((await get(unsigned)).card).not.toHaveProperty('verification');
    expect((await get(signed)).card).not.toHaveProperty('verification');
    expect((await parley(['card', 'get', signed.url])).stdout).toMatch(/^Signatures: 1, not verified$/m);
  });

  it('CARD_GET_004: no message is sent to an agent whose card the key has not signed, and the error has a remedy', async () => {
    const before = signed.calls.length;
    for (const agent of [signed, unsigned]) {
      const { code, stdout } = await parley(['send', '-a', agent.url, 'x', '--card-key', other.path, '-o', 'json']);
      expect(JSON.parse(stdout)).toMatchObject({
        error: { code: 'A2ACLI_ERR_CARD_INVALID', hint: expect.stringContaining('--card-key') },
      });
      expect(code).toBe(1);
    }
    expect(signed.calls).toHaveLength(before);
    expect((await parley(['send', '-a', signed.url, 'x', '--card-key', ours.path])).code).toBe(0);
  });

  it('CARD_GET_004: the extended card needs its own signature', async () => {
    const { code, stderr } = await parley(['card', 'get', '-a', signed.url, '--extended', '--card-key', ours.path]);
    expect(stderr).toMatch(/A2ACLI_ERR_CARD_INVALID: .*is not signed/);
    expect(code).toBe(1);
  });

  it('CARD_GET_004: keys are fetched by https, and key sets named by signatures only from allowed origins', async () => {
    const authority = makeAuthority('Keys');
    const ca = join(folder.path, 'ca.pem');
    writeFileSync(ca, authority.ca);
    const asked: (string | undefined)[] = [];
    const keys = createServer(authority.server(), ({ url }, response) => {
      asked.push(url);
      response.setHeader('content-type', 'application/jwk-set+json').end(JSON.stringify({ keys: [ours.jwk] }));
    });
    await new Promise<void>((resolve) => keys.listen(0, '127.0.0.1', resolve));
    const origin = `https://127.0.0.1:${(keys.address() as AddressInfo).port}`;
    await using named = await RecordingAgent.start();
    const path = join(folder.path, 'card.json');
    writeFileSync(path, JSON.stringify(await ours.sign(plainCard(named.url), { jku: `${origin}/named.json` })));
    const status = async (...args: string[]) => {
      const { stdout } = await parley(['card', 'get', path, '-o', 'json', '--ca-cert', ca, ...args]);
      return JSON.parse(stdout).verification.status as string;
    };
    try {
      expect(await status('--card-key', `${origin}/given.json`)).toBe('verified');
      expect(await status('--card-key-origin', 'https://keys.example')).toBe('unverifiable');
      expect(await status('--card-key-origin', 'card')).toBe('unverifiable');
      expect(asked).toEqual(['/given.json']);
      expect(await status('--card-key-origin', origin)).toBe('verified');
      expect(asked).toEqual(['/given.json', '/named.json']);
    } finally {
      keys.closeAllConnections();
      keys.close();
    }
  });

  it.each<readonly [string, () => string, RegExp]>([
    ['is not there', () => join(folder.path, 'none.json'), /none\.json cannot be read/],
    ['is no key', () => writeText('{"a":1}'), /is neither a JSON Web Key nor a key set/],
    ['is no JSON', () => writeText('-----BEGIN'), /is neither a JSON Web Key nor a key set/],
    ['has no name', () => writeText('{"kty":"EC"}'), /keys\[0\] needs a kid/],
    ['comes without TLS', () => 'http://keys.example/jwks.json', /is not https/],
  ])('a key that %s is a fault of the command line', async (_, key, message) => {
    const { code, stderr } = await parley(['card', 'get', signed.url, '--card-key', key()]);
    expect(stderr).toMatch(message);
    expect(code).toBe(2);
  });

  function writeText(text: string): string {
    const path = join(folder.path, 'key.json');
    writeFileSync(path, text);
    return path;
  }
});
