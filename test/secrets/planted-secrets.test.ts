import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { CapturingLogger } from '../../packages/parley/test/engine.js';
import { leakIn, outputs, PLANTED, plantSecret } from '../../packages/parley/test/planted-secrets.js';
import { startExampleServer } from '../support/example-server.mjs';

const SECRET = plantSecret('of this test');

/** Ways in which a program may show a secret. */
const SHOWN: readonly (readonly [string, string])[] = [
  ['as it is', SECRET],
  ['in upper case', SECRET.toUpperCase()],
  ['in a url', `https://host/?a=${encodeURIComponent(SECRET)}`],
  ['in a url, every character escaped', SECRET.replace(/./g, (one) => `%${one.charCodeAt(0).toString(16)}`)],
  ['as the user of a url', `https://user:${encodeURIComponent(SECRET)}@host/`],
  ['in JSON', JSON.stringify({ a: SECRET })],
  ['in JSON in JSON', JSON.stringify(JSON.stringify({ a: SECRET }))],
  ['in a header', `authorization: Bearer ${SECRET}`],
  ['in Basic', `Basic ${btoa(`ann:${SECRET}`)}`],
  ['in base64', btoa(SECRET)],
  ['in base64 after one byte', btoa(`1${SECRET}`)],
  ['in base64 after two bytes', btoa(`12${SECRET}`)],
  ['in base64url', Buffer.from(`~~~?${SECRET}`).toString('base64url')],
  ['in hex', Buffer.from(SECRET).toString('hex')],
];

it.each(SHOWN)('a secret that a process shows %s is found, on stdout and stderr', async (_, text) => {
  for (const stream of ['stdout', 'stderr']) {
    const child = spawn(process.execPath, ['-e', `process.${stream}.write(process.env.SHOWN)`], {
      env: { SHOWN: `before ${text} after` },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.resume();
    child.stderr.resume();
    await once(child, 'close');
    expect(outputs.take()).toMatchObject([{ source: expect.stringMatching(`^${stream} of process`) }]);
  }
});

it.each(['stdout', 'stderr'])('a server that shows a secret on %s fails the suite that runs it', async (stream) => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-secrets-'));
  const main = join(folder, 'leaking.mjs');
  writeFileSync(
    main,
    `process.${stream}.write(process.env.A2A_SECRET_KEYS + '\\n');
process.stdout.write('"msg":"listening on http://127.0.0.1:1"\\n');
setInterval(() => {}, 1000);`,
  );
  const server = await startExampleServer(main);
  await expect(server.stop()).rejects.toThrow(`A planted secret is shown:\n${stream} of the example server`);
  // The search of this file's own processes finds it too.
  expect(outputs.take()).not.toEqual([]);
  rmSync(folder, { recursive: true });
});

it('a secret that is cut into pieces is found, once', () => {
  for (let at = 1; at < PLANTED.length; at++) {
    outputs.read('pieces', `before ${PLANTED.slice(0, at)}`);
    outputs.read('pieces', `${PLANTED.slice(at)} after`);
    expect(outputs.take()).toHaveLength(1);
  }
});

it('a secret in a captured log is found, at any depth', () => {
  const logger = new CapturingLogger();
  logger.error('failed', { deep: { error: new Error('refused', { cause: new Error(SECRET) }) } });
  expect(outputs.take()).toMatchObject([{ source: 'a captured log' }]);
});

it('other texts are no secrets', () => {
  for (const text of ['', 'planted secret', btoa('a plant and a secret'), 'pl4nted', 's3cret-token'])
    expect(leakIn(text)).toBeUndefined();
});
