import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { suite } from './packed.js';

const place = suite.commands;
const bundle = join(place, 'node_modules/parley-a2a-cli/bundle');

interface Ran {
  readonly code: number;
  readonly output: string;
}

/** Runs Node.js in the folder of the installed tool, which is its home as well. */
function run(...args: readonly string[]): Promise<Ran> {
  const { PATH } = process.env;
  const env = { PATH, HOME: place, NODE_NO_WARNINGS: '1', A2ACLI_CLIENT_SECRET: 'secret' };
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: place, env, timeout: 60_000 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), output: `${stdout}${stderr}` });
    });
  });
}

/** The bare modules that a file imports, now or when a command runs. */
function modulesIn(file: string): readonly string[] {
  const imports = /(?:\bfrom\s?|\bimport\s?\(?\s?)["'`]([\w@][\w@/.:-]*)["'`]/g;
  return Array.from(readFileSync(join(bundle, file), 'utf8').matchAll(imports), ([, module = '']) => module);
}

/** The texts of new projects import these, and the projects install them. */
const OF_PROJECTS = [
  ...[
    'ai',
    'ai/test',
    '@langchain/langgraph',
    '@openai/agents',
    '@openai/agents/testing',
    'express',
    'fastify',
    'hono',
  ],
  ...['@hono/node-server', 'next', 'parley-a2a-ai-sdk', 'parley-a2a-langgraph', 'parley-a2a-openai-agents'],
  ...['parley-a2a-testing', 'parley-a2a-postgres', 'parley-a2a-redis'],
];

/** Packages that the tool does not bring. The commands that need them name the command that installs them. */
const OPTIONAL =
  /Cannot find package '(?:@modelcontextprotocol\/sdk|@grpc\/grpc-js|@bufbuild\/protobuf|@opentelemetry\/(?:api|sdk-node)|pg|ioredis)'/;

const servers: Server[] = [];
async function serve(answer: (url: string, path: string) => object): Promise<string> {
  const server = createServer((request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer(url, request.url ?? '')));
  }).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return url;
}

afterAll(() => {
  for (const server of servers) server.close().closeAllConnections();
});

describe('the packed command line', () => {
  it('has everything that any of its commands imports', async () => {
    const files = readdirSync(bundle).filter((file) => file.endsWith('.js'));
    const modules = [...new Set(files.flatMap(modulesIn))].filter((module) => !OF_PROJECTS.includes(module));
    expect(modules).toEqual(expect.arrayContaining(['jose', 'parley-a2a/credentials']));
    const targets = [...modules, ...files.map((file) => `./${file}`)];
    const script = `for (const target of ${JSON.stringify(targets)}) await import(target).catch((error) => console.log(target, String(error)));`;
    const path = join(bundle, 'every-import.mjs');
    writeFileSync(path, script);
    const { code, output } = await run(path);
    const missing = output.split('\n').filter((line) => line !== '' && !OPTIONAL.test(line));
    expect([code, missing]).toEqual([0, []]);
  });

  it.each(['class PostgresStorage', 'class RedisStorage'])(
    'has %s, whose errors are those of the library that serves',
    (declaration) => {
      const files = readdirSync(bundle).filter((file) => file.endsWith('.js'));
      const [file, ...others] = files.filter((one) => readFileSync(join(bundle, one), 'utf8').includes(declaration));
      expect(others).toEqual([]);
      expect(modulesIn(String(file))).toContain('parley-a2a/storage-engine');
      expect(readFileSync(join(bundle, String(file)), 'utf8')).not.toMatch(/class StorageError\b/);
    },
  );

  it.each([
    ['MCP', ['mcp', '--agent', 'http://127.0.0.1:9'], '@modelcontextprotocol/sdk'],
    ['gRPC', ['serve', 'served.mjs', '--grpc', '0'], '@grpc/grpc-js @bufbuild/protobuf'],
    ['PostgreSQL', ['serve', 'served.mjs', '--database', 'postgres://127.0.0.1:9/parley'], 'pg'],
    ['Redis', ['db', 'status', '--database', 'redis://127.0.0.1:9'], 'ioredis'],
  ])('names the packages of %s, which it does not bring', async (what, args, packages) => {
    writeFileSync(join(place, 'served.mjs'), 'export default (prompt) => prompt;\n');
    const { code, output } = await run(join(place, 'node_modules/parley-a2a-cli/bin/parley.js'), ...args);
    expect(output).toContain(`${what} needs packages that are not installed`);
    expect(output).toContain(`npm install --global ${packages}`);
    expect(code).toBe(2);
  });

  it('signs in', async () => {
    const issuer = await serve((url, path) =>
      path.startsWith('/.well-known/')
        ? { issuer: url, token_endpoint: `${url}/token` }
        : { access_token: 'granted', token_type: 'Bearer', expires_in: 3600 },
    );
    const agent = await serve((url) => ({
      name: 'Agent',
      description: '',
      version: '1',
      supportedInterfaces: [{ url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
      capabilities: {},
      defaultInputModes: [],
      defaultOutputModes: [],
      skills: [],
      securitySchemes: {
        oauth: { oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl: `${issuer}/token`, scopes: {} } } } },
      },
    }));
    const args = ['auth', 'login', '--client-id', 'cli', '--issuer', issuer, '-a', agent];
    const { code, output } = await run(join(place, 'node_modules/parley-a2a-cli/bin/parley.js'), ...args);
    expect(output).toContain(`Signed in at: ${issuer}`);
    expect(code).toBe(0);
  });
});
