import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Combination, labelOf, pairwiseCombinations } from '../create/combinations.js';
import { PostgresServer } from '../support/servers/postgres-server.js';
import { RedisServer } from '../support/servers/redis-server.js';
import { CreatedProject, MINUTES } from './created-project.js';
import { expectLight } from './installed.js';

/** The defaults in the short form; every pair of answers in the long one. */
const COMBINATIONS: readonly Combination[] =
  process.env.TEST_LONG === undefined
    ? [{ agent: 'plain', host: 'own', storage: 'sqlite', auth: 'key' }]
    : pairwiseCombinations();

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

/** A server of the database of a storage, if it needs one. */
async function databaseOf({ storage }: Combination): Promise<PostgresServer | RedisServer | undefined> {
  if (storage === 'postgres') return PostgresServer.start();
  return storage === 'redis' ? RedisServer.start() : undefined;
}

/** Settings of a server that takes the tokens of the provider, and a token for its caller. */
const tokenSettings = () => ({
  A2A_AUTH_PLAIN_HTTP: 'true',
  A2A_AUTH_ALLOW_HOSTS: '127.0.0.1',
  A2A_OIDC_ISSUER: issuer,
  A2A_JWT_AUDIENCE: AUDIENCE,
  AGENT_TOKEN: token,
});

/** The answer of each agent to the message that its README shows. */
const ANSWERS = /^HELLO|practice model|Refund 50 euros\?|refund \{"euros":50\}|tea: a first title/;

it.each(COMBINATIONS.map((combination) => [labelOf(combination), combination] as const))(
  'a project %s has the right types, passes its test and answers',
  { timeout: 10 * MINUTES },
  async (_label, combination) => {
    using project = await CreatedProject.create(combination, 'created');
    const { agent, host, storage } = combination;
    if (agent === 'plain' && host === 'own' && storage === 'sqlite') expectLight('a new project', project.folder);
    expect(await project.npm('run', 'check')).toMatchObject({ code: 0 });
    const tested = await project.npm('test');
    expect(tested.output).toMatch(/^\S+ pass [1-9]\d*$/m);
    expect(tested.code).toBe(0);
    if (project.scripts.build !== undefined) expect(await project.npm('run', 'build')).toMatchObject({ code: 0 });
    await using database = await databaseOf(combination);
    const settings = {
      ...(database !== undefined && { DATABASE_URL: database.url }),
      ...(combination.auth === 'jwt' && tokenSettings()),
    };
    await project.serve('start', settings, async ({ ask, output }) => {
      expect(await ask(), output()).toMatch(ANSWERS);
      if (combination.auth !== 'none')
        await expect(ask({ AGENT_KEY: 'wrong', AGENT_TOKEN: 'wrong' })).rejects.toThrow(/UNAUTHENTICATED/);
    });
    // Tasks are in the database, not in the file that takes its place without one.
    expect(existsSync(join(project.folder, 'data'))).toBe(combination.storage === 'sqlite');
  },
);
