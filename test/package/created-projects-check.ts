import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type Combination, labelOf, pairwiseCombinations } from '../create/combinations.js';
import { freePort } from '../interop/example-server.js';
import { inProject, repository, suite } from './packed.js';

/** The defaults in the short form; every pair of answers in the long one. */
const COMBINATIONS: readonly Combination[] =
  process.env.TEST_LONG === undefined
    ? [{ agent: 'plain', host: 'own', storage: 'sqlite', auth: 'key' }]
    : pairwiseCombinations();

const MINUTES = 60_000;
const AUDIENCE = 'my-agent';
let issuer = '';
let token = '';

/** An OpenID Connect provider with one key, and a token of it. */
const provider = createServer();
beforeAll(async () => {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const key = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256' };
  await once(provider.listen(0, '127.0.0.1'), 'listening');
  issuer = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  provider.on('request', ({ url }, response) => {
    const isKeys = url === '/keys';
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(isKeys ? { keys: [key] } : { issuer, jwks_uri: `${issuer}/keys` }));
  });
  token = await new SignJWT({ sub: 'ada' })
    .setProtectedHeader({ alg: 'ES256', kid: 'one' })
    .setIssuer(issuer)
    .setAudience(AUDIENCE)
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(privateKey);
});
afterAll(() => void provider.close());

interface ProjectManifest {
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

/** Writes a project, and installs it with the packed packages in place of published ones. */
async function created(project: string, combination: Combination): Promise<ProjectManifest> {
  const flags = Object.entries(combination).flatMap(([question, choice]) => [`--${question}`, choice]);
  const parley = join(repository, 'packages/cli/bin/parley.js');
  const made = await inProject(process.execPath, [parley, 'init', project, '--yes', ...flags]);
  expect(made).toMatchObject({ code: 0 });
  const manifest = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as ProjectManifest;
  const wanted = { ...manifest.dependencies, ...manifest.devDependencies };
  const own = Object.entries(suite.tarballs).flatMap(([name, file]) => (name in wanted ? [file] : []));
  const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
  await promisify(execFile)('npm', ['install', '--no-save', ...own, ...quiet], { cwd: project, timeout: 5 * MINUTES });
  return manifest;
}

/** The environment of a server and of its caller. */
function callersOf({ auth }: Combination): Readonly<Record<string, string>> {
  const { PATH = '', HOME = '' } = process.env;
  const shared = { PATH: [join(process.execPath, '..'), PATH].join(delimiter), HOME };
  if (auth !== 'jwt') return shared;
  const rules = { A2A_AUTH_PLAIN_HTTP: 'true', A2A_AUTH_ALLOW_HOSTS: '127.0.0.1' };
  return { ...shared, ...rules, A2A_OIDC_ISSUER: issuer, A2A_JWT_AUDIENCE: AUDIENCE, AGENT_TOKEN: token };
}

/** The answer of each agent to the message that its README shows. */
const ANSWERS = /^HELLO|practice model|Refund 50 euros\?|refund \{"euros":50\}|tea: a first title/;

it.each(COMBINATIONS.map((combination) => [labelOf(combination), combination] as const))(
  'a project %s has the right types, passes its test and answers',
  { timeout: 10 * MINUTES },
  async (label, combination) => {
    const project = join(suite.project, '..', `created-${label}`);
    const { scripts } = await created(project, combination);
    const npm = (...args: readonly string[]) => inProject('npm', args, project, 5 * MINUTES);
    expect(await npm('run', 'check')).toMatchObject({ code: 0 });
    const tested = await npm('test');
    expect(tested.output).toMatch(/^\S+ pass [1-9]\d*$/m);
    expect(tested.code).toBe(0);
    if (scripts.build !== undefined) expect(await npm('run', 'build')).toMatchObject({ code: 0 });

    const port = await freePort();
    const base = `http://localhost:${port}`;
    const env = {
      ...callersOf(combination),
      PORT: String(port),
      AGENT_URL: `${base}${combination.host === 'own' ? '' : '/agent'}`,
    };
    const ask = (more: Readonly<Record<string, string>> = {}) =>
      promisify(execFile)('npm', ['run', '--silent', 'ask'], { cwd: project, env: { ...env, ...more } });
    const server = spawn('npm', ['start'], { cwd: project, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    let output = '';
    for (const stream of [server.stdout, server.stderr]) stream.on('data', (text) => (output += String(text)));
    const ended = once(server, 'exit');
    try {
      await vi.waitFor(async () => expect((await fetch(`${base}/healthz`)).ok, output).toBe(true), MINUTES);
      expect((await ask()).stdout, output).toMatch(ANSWERS);
      if (combination.auth !== 'none')
        await expect(ask({ AGENT_KEY: 'wrong', AGENT_TOKEN: 'wrong' })).rejects.toThrow(/UNAUTHENTICATED/);
    } finally {
      if (server.pid !== undefined) process.kill(-server.pid, 'SIGTERM');
      await ended;
      // The packages of 30 projects would fill a disk.
      rmSync(project, { recursive: true, force: true, maxRetries: 3 });
    }
  },
);
