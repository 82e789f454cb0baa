import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { calculateJwkThumbprint, type JWK } from 'jose';
import { afterAll, describe, expect, it } from 'vitest';
import { EmptyFolder, parley } from './parley.js';
import { plainCard, RecordingAgent } from './recording-agent.js';

describe('parley card sign', () => {
  const folder = new EmptyFolder();
  afterAll(() => folder[Symbol.dispose]());

  function writeText(name: string, text: string): string {
    const path = join(folder.path, name);
    writeFileSync(path, text);
    return path;
  }

  async function keyFiles(name: string) {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const jwk = publicKey.export({ format: 'jwk' }) as JWK;
    return {
      own: writeText(`${name}.pem`, privateKey.export({ type: 'pkcs8', format: 'pem' }) as string),
      shown: writeText(`${name}.jwk`, JSON.stringify({ ...jwk, kid: await calculateJwkThumbprint(jwk) })),
    };
  }

  it('signs with each key, so that card get verifies the card', async () => {
    const [first, second] = [await keyFiles('first'), await keyFiles('second')];
    const cards: { own?: object } = {};
    await using agent = await RecordingAgent.start({ card: () => cards.own ?? {} });
    const card = { ...plainCard(agent.url), signatures: [{ protected: 'e30', signature: 'AA' }] };
    const keys = ['--signing-key', first.own, '--signing-key', second.own];
    const { code, stdout } = await parley(['card', 'sign', '-', ...keys, '--jku', 'https://keys.example/jwks'], {
      input: JSON.stringify(card),
    });
    expect(code).toBe(0);
    const signed = JSON.parse(stdout) as { signatures: { protected: string }[] };
    expect(signed).toEqual({ ...card, signatures: expect.any(Array) });
    const headers = signed.signatures.map((one) => JSON.parse(Buffer.from(one.protected, 'base64url').toString()));
    expect(new Set(headers.map(({ kid }) => kid)).size).toBe(2);
    expect(headers[0]).toMatchObject({ alg: 'ES256', jku: 'https://keys.example/jwks' });
    cards.own = signed;
    for (const { shown } of [first, second]) {
      const got = await parley(['card', 'get', agent.url, '-o', 'json', '--card-key', shown]);
      expect(JSON.parse(got.stdout)).toMatchObject({ verification: { status: 'verified' } });
    }
  });

  it.each([
    [[], 'card sign needs <file|->'],
    [['card.json'], '--signing-key names the file'],
    [['card.json', '--signing-key', 'nowhere.pem', '--jku', 'http://keys.example'], '--jku is an https URL'],
    [['nowhere.json', '--signing-key', 'nowhere.pem'], 'nowhere.json cannot be read (ENOENT)'],
    [['card.json', '--signing-key', 'nowhere.pem'], 'cannot be read as a key'],
    [['list.json', '--signing-key', 'nowhere.pem'], 'is no JSON object'],
  ])('%j is refused', async (args, problem) => {
    writeText('card.json', '{}');
    writeText('list.json', '[]');
    const { code, stderr } = await parley(['card', 'sign', ...args], { cwd: folder.path });
    expect(code).not.toBe(0);
    expect(stderr).toContain(problem);
  });

  it('does not sign with a public key', async () => {
    const { shown } = await keyFiles('public');
    const path = writeText('card.json', '{}');
    const { code, stderr } = await parley(['card', 'sign', path, '--signing-key', shown]);
    expect(code).not.toBe(0);
    expect(stderr).toContain('needs a private key');
  });
});
