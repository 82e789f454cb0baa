import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeAuthority } from '../credentials/certificates.js';
import { startTlsAgent, type TlsAgent } from '../credentials/tls-agent.js';
import { EmptyFolder, parley } from './parley.js';

describe('over TLS', () => {
  const folder = new EmptyFolder();
  const path = (name: string) => join(folder.path, name);
  let strict: TlsAgent;
  let curious: TlsAgent;
  beforeAll(async () => {
    const authority = makeAuthority('Test authority');
    const { cert, key } = authority.client('ada');
    for (const [name, text] of Object.entries({ 'ca.pem': authority.ca, 'cert.pem': cert, 'key.pem': key }))
      writeFileSync(path(name), text);
    strict = await startTlsAgent({ authority, requires: true });
    curious = await startTlsAgent({ authority, requires: false });
  });
  afterAll(async () => {
    await strict.close();
    await curious.close();
    folder[Symbol.dispose]();
  });

  const certificate = () => ['--client-cert', path('cert.pem'), '--client-key', path('key.pem')];
  const trust = () => ['--ca-cert', path('ca.pem')];

  it('AUTH_003: an untrusted certificate fails the call without --insecure or --ca-cert', async () => {
    const refused = await parley(['card', 'get', curious.url]);
    expect(refused.stderr).toMatch(/A2ACLI_ERR_UNREACHABLE.*\nhint: .*--insecure/);
    expect(refused.code).toBe(3);
    const forced = await parley(['card', 'get', curious.url, '--insecure']);
    expect(forced.stderr).toMatch(/^warning: --insecure/);
    expect(forced.stderr).not.toContain('NODE_TLS_REJECT_UNAUTHORIZED');
    expect(forced.code).toBe(0);
    expect((await parley(['card', 'get', curious.url, ...trust()])).code).toBe(0);
  });

  it('AUTH_009: a client certificate authenticates the caller', async () => {
    const { stdout, code } = await parley(['send', '-a', strict.url, 'x', ...certificate(), ...trust()]);
    expect(stdout).toMatch(/^Text:\ncalled by ada/m);
    expect(code).toBe(0);
    expect(strict.seen).toContain('ada');
    expect((await parley(['send', '-a', strict.url, 'x', ...trust()])).code).toBe(3);
    expect((await parley(['send', '-a', curious.url, 'x', ...trust()])).stdout).toContain('nobody');
    expect((await parley(['send', '-a', curious.url, 'x', '--client-cert', path('cert.pem')])).stderr).toMatch(
      /go together/,
    );
  });
});
