import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openStorage } from 'parley-a2a/storage';
import { openRedisCache } from 'parley-a2a-redis';
import { describe, expect, it } from 'vitest';
import { leakIn, plantSecret } from '../../packages/parley/test/planted-secrets.js';
import { EmptyFolder, type ParleyResult, parley } from '../cli/parley.js';
import { BACKENDS } from '../support/backends.js';

const EXAMPLES = fileURLToPath(new URL('../../examples/agents/dist/main.js', import.meta.url));
const SECRET = plantSecret('url');
const HOST = '127.0.0.1:1';

/** Urls and texts that people take for urls. The server is never there. */
const DATABASES: readonly string[] = [
  `postgres://user:${SECRET}@${HOST}/db`,
  `postgres://user:a:${SECRET}@${HOST}/db`,
  `postgres://user:a@${SECRET}@${HOST}/db`,
  `postgres://user:a/${SECRET}@${HOST}/db`,
  `postgres://user:12/${SECRET}@${HOST}/db`,
  `postgres://user:12?${SECRET}@${HOST}/db`,
  `postgres://user:12?${SECRET}=x@${HOST}/db`,
  `postgres://user:12#${SECRET}@${HOST}/db`,
  `postgres://user:a?${SECRET}@${HOST}/db`,
  `postgres://user:%zz${SECRET}@${HOST}/db`,
  `postgres://user:${encodeURIComponent(`/${SECRET}@`)}@${HOST}/db`,
  `postgres://${SECRET}@${HOST}/db`,
  `postgres://:${SECRET}@${HOST}/db`,
  `postgres://user:a b ${SECRET}@${HOST}/db`,
  `postgres://user:${SECRET}@127.0.0.1:1,127.0.0.1:2/db`,
  `postgres://user:${SECRET}@[::1/db`,
  `postgres://user:${SECRET}@:99999/db`,
  `postgres://${HOST}/db?password=${SECRET}`,
  `postgres://${HOST}/db?user=u&password=a@${SECRET}`,
  `postgres://${HOST}/db?sslpassword=${SECRET}&sslmode=odd`,
  `postgres://${HOST}/db?sslmode=${SECRET}`,
  `postgres://${HOST}/db?listenUrl=${encodeURIComponent(`postgres://u:${SECRET}@x:y/db`)}`,
  `postgresql:///db?host=/var/run/postgresql&user=u&password=${SECRET}`,
  `postgres://%2Fvar%2Frun/db?password=${SECRET}`,
  `postgres:user:${SECRET}@${HOST}/db`,
  `postgresql:/user:${SECRET}@${HOST}/db`,
  `POSTGRES://user:${SECRET}@${HOST}/db`,
  ` postgres://user:${SECRET}@${HOST}/db`,
  `"postgres://user:${SECRET}@${HOST}/db"`,
  `DATABASE_URL=postgres://user:${SECRET}@${HOST}/db`,
  `host=127.0.0.1 port=1 user=u password=${SECRET} dbname=db`,
  `host=127.0.0.1 password='a ${SECRET}' dbname=db`,
  `jdbc:postgresql://${HOST}/db?user=u&password=${SECRET}`,
  `Server=127.0.0.1;User Id=u;Password=${SECRET};`,
  `mysql://root:${SECRET}@${HOST}/db`,
  `user:${SECRET}@${HOST}/db`,
  `//user:${SECRET}@${HOST}/db`,
  `redis://:${SECRET}@${HOST}`,
  `redis://${SECRET}@${HOST}`,
  `redis://user:${SECRET}@${HOST},127.0.0.1:2/0`,
  `redis://user:${SECRET}@127.0.0.1:1,user:${SECRET}@127.0.0.1:2`,
  `redis://user:12/${SECRET}@${HOST}`,
  `redis://user:a@${SECRET}@${HOST}`,
  `redis://:${SECRET}`,
  `redis:${SECRET}@${HOST}`,
  `redis:${SECRET}`,
  `rediss://user:${SECRET}@${HOST}/x`,
  `redis://${HOST}?password=${SECRET}`,
  `redis://${HOST}?${SECRET}=1`,
  `redis-sentinel://:${SECRET}@${HOST}/primary`,
  `redis+tls://:${SECRET}@${HOST}`,
  `https://key:${SECRET}@s3.example.com/bucket`,
  `s3://key:${SECRET}@bucket?secretAccessKey=${SECRET}`,
];

/** Commands that share their way to the database have one url in six each, together all; in the long form all. */
function someDatabases(command: number, oneIn = 6): readonly string[] {
  return DATABASES.filter((_, at) => process.env.TEST_LONG !== undefined || (at + command) % oneIn === 0);
}

function expectNoSecret({ stdout, stderr }: Pick<ParleyResult, 'stdout' | 'stderr'>, url: string): void {
  expect([url, leakIn(stdout), leakIn(stderr)]).toEqual([url, undefined, undefined]);
}

/** Runs a program, a few urls at a time. */
async function withEach(urls: readonly string[], run: (url: string) => Promise<void>): Promise<void> {
  const waiting = [...urls];
  await Promise.all(
    [1, 2].map(async () => {
      for (let url = waiting.shift(); url !== undefined; url = waiting.shift()) await run(url);
    }),
  );
}

describe('the password in the url of a database is shown', () => {
  const commands: [string, (url: string) => readonly string[], ((url: string) => Record<string, string>)?][] = [
    ['by a flag', (url) => ['cluster', 'status', '--database', url]],
    ['of a command for files', (url) => ['db', 'status', '--database', url]],
    ['by the environment', () => ['cluster', 'status', '-o', 'json'], (url) => ({ A2ACLI_DATABASE: url })],
    ['by DATABASE_URL', () => ['push', 'dead', '--debug'], (url) => ({ DATABASE_URL: url })],
    ['by an argument', (url) => ['db', 'copy', url, 'memory:']],
    ['by a server', (url) => ['serve', '--echo', '--port', '0', '--debug', '--database', url]],
  ];
  it.each(commands.map(([name, argsOf, envOf = () => ({})], at) => [name, argsOf, envOf, someDatabases(at)] as const))(
    '%s: never',
    async (_name, argsOf, envOf, urls) => {
      await withEach(urls, async (url) => expectNoSecret(await parley(argsOf(url), { env: envOf(url) }), url));
    },
    120_000,
  );

  it('by the list of all settings: never, from any source', async () => {
    using folder = new EmptyFolder();
    await withEach(someDatabases(1), async (url) => {
      expectNoSecret(await parley(['config', 'show'], { env: { A2ACLI_DATABASE: url } }), url);
      const file = join(folder.path, `${DATABASES.indexOf(url)}.env`);
      writeFileSync(file, `A2ACLI_DATABASE=${url}\nA2ACLI_PROXY=${url}\nA2ACLI_AGENT_CARD=${url}\n`);
      expectNoSecret(await parley(['config', 'show', '--config', file, '-o', 'json']), url);
    });
  }, 120_000);

  it('by the library: never', async () => {
    for (const url of DATABASES) {
      const lines: string[] = [];
      const take = (message: string, fields?: object) => void lines.push(`${message} ${JSON.stringify(fields)}`);
      const logger = { debug: take, info: take, warn: take, error: take };
      const failed = await openStorage(url, { logger, backends: BACKENDS }).then(
        () => new Error('opened'),
        (error: Error) => error,
      );
      expect([url, leakIn(`${failed.stack} ${String(failed.cause)} ${lines.join()}`)]).toEqual([url, undefined]);
      try {
        await (await openRedisCache({ url, logger })).close();
      } catch (error) {
        lines.push(String((error as Error).stack), JSON.stringify(error));
      }
      expect([url, leakIn(lines.join())]).toEqual([url, undefined]);
    }
  }, 60_000);

  const variables = ['DATABASE_URL', 'A2A_REDIS_URL', 'A2A_PUBLIC_URL'];
  // A start of the server takes long, and the library has been given all of them.
  it.each(variables.map((name, at) => [name, someDatabases(at, 15)] as const))(
    'by the example server, in %s: never',
    async (name, urls) => {
      const run = async (url: string) => {
        const env = {
          PATH: process.env.PATH ?? '',
          PORT: '0',
          LOG_LEVEL: 'debug',
          DATABASE_URL: 'memory:',
          [name]: url,
        };
        const child = spawn(process.execPath, [EXAMPLES], { env, stdio: ['ignore', 'pipe', 'pipe'] });
        const output = { stdout: '', stderr: '' };
        child.stderr.setEncoding('utf8').on('data', (text: string) => {
          output.stderr += text;
        });
        child.stdout.setEncoding('utf8').on('data', (text: string) => {
          output.stdout += text;
          if (/listening|started/.test(text)) child.kill();
        });
        await once(child, 'close');
        expectNoSecret(output, url);
      };
      await withEach(urls, run);
    },
    120_000,
  );
});

/** Urls of agents, proxies, issuers and webhooks. */
const WEB: readonly string[] = [
  `http://user:${SECRET}@${HOST}`,
  `http://${SECRET}@${HOST}/`,
  `http://user:a@${SECRET}@${HOST}`,
  `http://user:a/${SECRET}@${HOST}`,
  `http://user:12/${SECRET}@${HOST}`,
  `http://${HOST}/?api_key=${SECRET}`,
  `http://${HOST}/?X-Amz-Signature=${SECRET}&X-Amz-Security-Token=${SECRET}`,
  `http://${HOST}/x?sig=${SECRET}#token=${SECRET}`,
  `ftp://user:${SECRET}@${HOST}`,
  `user:${SECRET}@${HOST}`,
  `http://user:${SECRET}@[::1`,
];

/** One url in five, other ones for each command; in the long form all. */
function someOf(urls: readonly string[], at: number): readonly string[] {
  return urls.filter((_, url) => process.env.TEST_LONG !== undefined || (url + at) % 5 === 0);
}

describe('the password in the url of an agent or a service is shown', () => {
  const commands: [string, (url: string) => readonly string[]][] = [
    ['by card get', (url) => ['card', 'get', url]],
    ['by send', (url) => ['send', 'x', '-a', url, '-o', 'json']],
    ['by send with --debug', (url) => ['send', 'x', '-a', url, '--debug']],
    ['by --endpoint', (url) => ['send', 'x', '--endpoint', url, '--transport', 'JSONRPC']],
    ['by a proxy', (url) => ['serve', '--proxy', url, '--host', 'nowhere.invalid', '--allow-anonymous']],
    ['by an issuer', (url) => ['serve', '--echo', '--port', '0', '--host', 'nowhere.invalid', '--oidc-issuer', url]],
    [
      'by a key set',
      (url) => [
        'serve',
        '--echo',
        '--host',
        'nowhere.invalid',
        '--jwks-url',
        url,
        '--jwt-issuer',
        url,
        '--jwt-audience',
        'a',
      ],
    ],
    ['by a webhook', (url) => ['task', 'push-config', 'create', 't', '--url', url, '-a', `http://${HOST}`]],
    ['by a login', (url) => ['auth', 'login', url]],
    ['by the conformance tester', (url) => ['conformance', '-a', url]],
    [
      'by a public url',
      (url) => ['serve', '--echo', '--host', 'nowhere.invalid', '--allow-anonymous', '--public-url', url],
    ],
  ];
  it.each(commands.map(([name, argsOf], at) => [name, argsOf, someOf(WEB, at)] as const))(
    '%s: never',
    async (_name, argsOf, urls) => {
      await withEach(urls, async (url) => expectNoSecret(await parley(argsOf(url)), url));
    },
    120_000,
  );
});
