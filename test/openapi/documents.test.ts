import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { ApiKeys, allOf, anyOf, BearerTokens } from 'parley-a2a/auth';
import { directoryFileStore, type FileStore, fileTransfer, memoryFileStore } from 'parley-a2a/files';
import { createA2AHost } from 'parley-a2a/node';
import { operatorApi } from 'parley-a2a/operator';
import { afterAll, describe, expect, it } from 'vitest';
import { PROTOCOL_VERSIONS } from '../../packages/parley/src/codec/protocol-versions.js';
import type { OpenApiDocument } from '../../packages/parley/src/openapi/document.js';
import { toOpenApi30 } from '../../packages/parley/src/openapi/open-api-3-0.js';
import { OPERATIONS } from '../../packages/parley/src/operations/operations.js';
import { withoutUploads } from '../support/store-without-uploads.js';

const authenticator = new BearerTokens([{ token: 'secret', subject: 'someone' }]);
/** One agent is protected, so the description is too. */
const CREDENTIAL = { authorization: 'Bearer secret' };
const agents = {
  '/': { agent: () => 'hello' },
  '/known': { agent: () => 'hello', authenticator, extendedAgentCard: (card: object) => card as never },
  '/silent': { agent: () => 'hello', streaming: false },
};
const host = createA2AHost({ agents, openapi: true, url: 'https://agents.example/below/' });

async function read(path: string, server = host, headers: Record<string, string> = {}): Promise<OpenApiDocument> {
  const answer = await server.fetch(
    new Request(`http://evil.example${path}`, { headers: { ...CREDENTIAL, ...headers } }),
  );
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json']);
  return (await answer.json()) as OpenApiDocument;
}

const operationsOf = ({ paths }: OpenApiDocument) =>
  Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  );

describe('the operator API', () => {
  const token = 'token-of-a-launch-0123456789-0123456789';
  const createOperatedHost = () => {
    const options = { agents, openapi: true, operator: operatorApi({ token }) };
    return createA2AHost({
      ...options,
      audit: { write: () => {}, read: async () => ({ records: [], unreadable: 0 }) },
    });
  };

  it.each(['/openapi.json', '/openapi-3.0.json'])('is in %s, with both kinds of credentials', async (path) => {
    const document = await read(path, createOperatedHost());
    expect(await new Validator().validate({ ...document })).toMatchObject({ valid: true });
    const found = operationsOf(document).filter((one) => one.path.startsWith('/operator/'));
    expect(found.map(({ path, method }) => `${method} ${path.slice('/operator/v1/'.length)}`).sort()).toEqual(
      ['get status', 'get counts', 'get tasks', 'get tasks/{id}', 'delete tasks/{id}', 'get deliveries', 'get audit']
        .concat('post replays')
        .sort(),
    );
    for (const { operation } of found) {
      expect(operation.security).toEqual([{ host_bearer: [] }, { host_operatorToken: [] }]);
    }
    const ids = operationsOf(document).map(({ operation }) => operation.operationId);
    expect(ids.length).toBe(new Set(ids).size);
  });

  it('answers what it says', async () => {
    const server = createOperatedHost();
    const headers = { 'operator-token': token };
    await server.tasksOf('/', { owner: 'ada' }).create({ id: 't1', status: { state: 'TASK_STATE_WORKING' } });
    const { paths, components } = await read('/openapi.json', server);
    const { url } = await server.listen(0);
    try {
      interface Described {
        readonly $ref?: string;
        readonly properties?: Readonly<Record<string, Described>>;
        readonly required?: readonly string[];
        readonly items?: Described;
      }
      const differences = (value: unknown, schema: Described, at: string): string[] => {
        const known = (
          schema.$ref === undefined ? schema : components.schemas[schema.$ref.split('/').at(-1) ?? '']
        ) as Described;
        if (Array.isArray(value)) return value.flatMap((one) => differences(one, known.items ?? {}, `${at}[]`));
        if (known.properties === undefined) return [];
        const members = Object.entries(Object(value));
        const missing = known.required?.filter((name) => !Object.hasOwn(Object(value), name)) ?? [];
        return [
          ...missing.map((name) => `${at}.${name} is missing`),
          ...members.flatMap(([name, member]) => {
            const described = known.properties?.[name];
            return described === undefined ? [`${at}.${name} is new`] : differences(member, described, `${at}.${name}`);
          }),
        ];
      };
      for (const [path, query] of [
        ['status', ''],
        ['counts', ''],
        ['tasks', '?limit=1'],
        ['tasks/{id}', '?agent=/&owner=ada'],
        ['deliveries', ''],
        ['audit', ''],
      ] as const) {
        const answer = await fetch(`${url}/operator/v1/${path.replace('{id}', 't1')}${query}`, { headers });
        expect([path, answer.status]).toEqual([path, 200]);
        const schema = paths[`/operator/v1/${path}`]?.get?.responses[200]?.content?.['application/json']?.schema;
        expect(differences(await answer.json(), schema as Described, path)).toEqual([]);
      }
    } finally {
      await server.close();
    }
  });
});

describe('files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-openapi-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const filesOf = (store: FileStore) =>
    createA2AHost({ agents, openapi: true, files: fileTransfer({ store }), url: 'https://agents.example' });

  it.each(['/openapi.json', '/openapi-3.0.json'])('are in %s, with the credentials of their agent', async (path) => {
    const document = await read(path, filesOf(directoryFileStore({ path: folder })));
    expect(await new Validator().validate({ ...document })).toMatchObject({ valid: true });
    expect(Object.keys(document.paths['/a2a/files'] ?? {})).toEqual(['post']);
    expect(Object.keys(document.paths['/known/files/{id}'] ?? {})).toEqual(['get', 'head', 'delete', 'patch']);
    expect(document.paths['/known/files']?.post?.security).toEqual([{ known_bearer: [] }]);
    expect(document.paths['/a2a/files']?.post?.security).toBeUndefined();
    const ids = operationsOf(document).map(({ operation }) => operation.operationId);
    expect(ids.length).toBe(new Set(ids).size);
  });

  it('are in it without uploads in several requests if the store takes none', async () => {
    const document = await read('/openapi.json', filesOf(withoutUploads(memoryFileStore())));
    expect(Object.keys(document.paths['/a2a/files/{id}'] ?? {})).toEqual(['get', 'head', 'delete']);
  });
});

describe.each([
  ['/openapi.json', /^3\.1\./],
  ['/openapi-3.0.json', /^3\.0\./],
])('%s', (path, version) => {
  it('is a valid document of its version', async () => {
    const document = await read(path);
    expect(document.openapi).toMatch(version);
    expect(await new Validator().validate({ ...document })).toMatchObject({ valid: true });
  });

  it('refers only to what is in it, and names each operation once', async () => {
    const document = await read(path);
    const references = Array.from(
      JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g),
      ([, name]) => name,
    );
    const names = Object.keys(document.components.schemas);
    expect(references.filter((name) => !names.includes(name ?? ''))).toEqual([]);
    expect(names.filter((name) => !references.includes(name))).toEqual([]);
    const ids = operationsOf(document).map(({ operation }) => operation.operationId);
    expect(ids.length).toBe(new Set(ids).size);
  });

  it('tells the address that the operator has set, and never what a request claims', async () => {
    const forwarded = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' };
    expect((await read(path, host, forwarded)).servers).toEqual([{ url: 'https://agents.example/below' }]);
    const nowhere = createA2AHost({ agents, openapi: true });
    expect((await read(path, nowhere, forwarded)).servers).toBeUndefined();
  });

  it('can be read only', async () => {
    const answer = await host.fetch(new Request(`http://x.example${path}`, { method: 'POST', headers: CREDENTIAL }));
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });

  it('is not there unless it is asked for', async () => {
    const server = createA2AHost({ agents });
    expect((await server.fetch(new Request(`http://x.example${path}`))).status).toBe(404);
  });
});

describe('the description of an agent', () => {
  const versions = [PROTOCOL_VERSIONS['1.0'], PROTOCOL_VERSIONS['0.3']];
  const capable = (path: string, operation: keyof typeof OPERATIONS) => {
    const card = host.agentCards[path]?.capabilities ?? {};
    const needed = OPERATIONS[operation].capability;
    return needed === undefined || card[needed] === true;
  };

  it.each([
    ['/', '/a2a/rest', '/a2a/jsonrpc'],
    ['/known', '/known', '/known'],
    ['/silent', '/silent', '/silent'],
  ])('%s has every route and method that its card offers, and no other', async (path, below, jsonRpc) => {
    const document = await read('/openapi.json');
    const routes = versions
      .flatMap(({ httpJson }) => httpJson.routes)
      .filter(({ operation }) => capable(path, operation));
    const described = operationsOf(document).filter(
      (one) => one.path.startsWith(`${below}/`) && !one.path.includes('.well-known'),
    );
    // Two routes of one path may name its parameters differently; a document has one name for both.
    const dropNames = (route: string) => route.replaceAll(/\{\w+\}/g, '{}');
    expect(described.map((one) => dropNames(`${one.method} ${one.path}`)).sort()).toEqual(
      routes.map((route) => dropNames(`${route.method.toLowerCase()} ${below}/${route.path.join('/')}`)).sort(),
    );
    expect(new Set(described.map(({ path }) => path)).size).toBe(
      new Set(described.map((one) => dropNames(one.path))).size,
    );
    const body = document.paths[jsonRpc]?.post?.requestBody?.content['application/json']?.schema as unknown as {
      readonly discriminator: { readonly mapping: object };
    };
    const methods = versions
      .flatMap((version) => [...version.jsonRpc.methods])
      .filter(([, operation]) => capable(path, operation))
      .map(([name]) => name);
    expect(Object.keys(body.discriminator.mapping)).toEqual(methods);
  });

  it('says who may call', async () => {
    const document = await read('/openapi.json');
    expect(document.components.securitySchemes).toEqual({
      known_bearer: { type: 'http', scheme: 'bearer' },
      host_bearer: { type: 'http', scheme: 'bearer' },
    });
    expect(document.paths['/']?.get?.security).toEqual([{ host_bearer: [] }]);
    expect(document.paths['/healthz']?.get).not.toHaveProperty('security');
    expect(document.paths['/metrics']?.get?.security).toEqual([{ host_bearer: [] }]);
    expect(document.paths['/known/extendedAgentCard']?.get?.security).toEqual([{ known_bearer: [] }]);
    expect(document.paths['/known/tasks']?.get?.security).toEqual([{ known_bearer: [] }]);
    expect(document.paths['/known/tasks']?.get?.responses).toHaveProperty('401');
    expect(document.paths['/silent/tasks']?.get).not.toHaveProperty('security');
    expect(document.paths['/silent/tasks']?.get?.responses).not.toHaveProperty('401');
  });
});

describe('schemes of one name', () => {
  const keyIn = (header: string, scopes: readonly string[] = []) =>
    new ApiKeys([{ key: `key-in-${header}`, subject: 'ada', scopes }], { place: { location: 'header', name: header } });
  const agent = () => 'hello';
  const all = { authorization: 'Bearer secret', 'x-a': 'key-in-x-a' };

  it('stay apart if an agent is at the path that names the host', async () => {
    const server = createA2AHost({
      agents: { '/host': { agent, authenticator: keyIn('x-b') }, '/plain': { agent } },
      authenticator: keyIn('x-a'),
      openapi: true,
    });
    const document = await read('/openapi.json', server, { 'x-a': 'key-in-x-a' });
    const headerAt = (path: string) => {
      const [name = ''] = Object.keys(document.paths[path]?.get?.security?.[0] ?? {});
      return document.components.securitySchemes?.[name]?.name;
    };
    expect(headerAt('/host/tasks')).toBe('x-b');
    expect(headerAt('/metrics')).toBe('x-a');
    expect(headerAt('/plain/tasks')).toBe('x-a');
    for (const path of ['/docs', '/openapi.json', '/openapi-3.0.json']) expect(headerAt(path), path).toBe('x-a');
  });

  it('stay apart if the host takes the credentials of several agents', async () => {
    const server = createA2AHost({
      agents: { '/a': { agent, authenticator: keyIn('x-a') }, '/b': { agent, authenticator: keyIn('x-b') } },
      openapi: true,
    });
    const { components, paths } = await read('/openapi.json', server, all);
    const names = paths['/docs']?.get?.security?.flatMap((one) => Object.keys(one)) ?? [];
    expect(names.map((name) => components.securitySchemes?.[name]?.name)).toEqual(['x-a', 'x-b']);
  });

  it.each(['/openapi.json', '/openapi-3.0.json'])(
    'and operations do in %s if paths differ in signs only',
    async (path) => {
      const server = createA2AHost({
        agents: { '/a-b': { agent, authenticator: keyIn('x-a') }, '/a_b': { agent, authenticator: keyIn('x-b') } },
        files: fileTransfer({ store: memoryFileStore() }),
        openapi: true,
      });
      const document = await read(path, server, all);
      expect(await new Validator().validate({ ...document })).toMatchObject({ valid: true });
      const ids = operationsOf(document).map(({ operation }) => operation.operationId);
      expect(ids.length).toBe(new Set(ids).size);
      const nameAt = (at: string) => Object.keys(document.paths[at]?.post?.security?.[0] ?? {})[0] ?? '';
      const headers = ['/a-b', '/a_b', '/a-b/files', '/a_b/files'].map(
        (at) => document.components.securitySchemes?.[nameAt(at)]?.name,
      );
      expect(headers).toEqual(['x-a', 'x-b', 'x-a', 'x-b']);
    },
  );

  it('are needed together if the agent needs all of them, and are alternatives otherwise', async () => {
    const token = new BearerTokens([{ token: 'secret', subject: 'ada' }]);
    const server = createA2AHost({
      agents: {
        '/all': { agent, authenticator: allOf(keyIn('x-a'), token) },
        '/any': { agent, authenticator: anyOf(keyIn('x-a'), token) },
      },
      openapi: true,
    });
    for (const path of ['/openapi.json', '/openapi-3.0.json']) {
      const { paths } = await read(path, server, all);
      expect(paths['/all/tasks']?.get?.security).toEqual([{ all_apiKey: [], all_bearer: [] }]);
      expect(paths['/any/tasks']?.get?.security).toEqual([{ any_apiKey: [] }, { any_bearer: [] }]);
    }
  });
});

describe('the description of a base server', () => {
  const server = createA2AHost({
    agents: { '/hello': { agent: () => 'hello' } },
    openapi: true,
    baseServer: { cacheChanges: true },
  });

  it.each(['/openapi.json', '/openapi-3.0.json'])('has the names that its callers know, at %s', async (path) => {
    const { components, paths, tags } = await read(path, server);
    expect(Object.keys(components.schemas)).toEqual(
      expect.arrayContaining(['HealthResponse', 'JSONRPCError', 'JSONRPCRequest', 'JSONRPCResponse']),
    );
    expect(tags.map(({ name }) => name)).toEqual(expect.arrayContaining(['Core', 'Monitoring', 'Cache']));
    const groups = { '/discover': 'Core', '/health': 'Core', '/metrics': 'Monitoring', '/info': 'Monitoring' };
    for (const [at, tag] of Object.entries(groups)) expect(paths[at]?.get?.tags, at).toEqual([tag]);
    for (const at of ['/communicate', '/delegate']) expect(paths[at]?.post?.tags, at).toEqual(['Core']);
    for (const at of ['/cache/invalidate', '/cache/warmup']) expect(paths[at]?.post?.tags, at).toEqual(['Cache']);
    for (const at of ['/discover', '/agent.json', '/health', '/info', '/cache/stats'])
      expect(Object.keys(paths[at]?.get?.responses ?? {}), at).toEqual(['200', '500']);
    expect(paths['/cache/stats']?.get?.tags).toEqual(['Cache']);
    expect(await new Validator().validate({ ...(await read(path, server)) })).toMatchObject({ valid: true });
  });
});

describe('/docs', () => {
  const page = async (server = host) => {
    const answer = await server.fetch(new Request('http://x.example/docs', { headers: CREDENTIAL }));
    return { answer, text: await answer.text() };
  };

  it('is one page that loads and runs nothing', async () => {
    const { answer, text } = await page();
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const policy = answer.headers.get('content-security-policy') ?? '';
    const style = /<style>(.*?)<\/style>/s.exec(text)?.[1] ?? '';
    const digest = Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(style))).toString('base64');
    expect(policy).toBe(
      "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
        `style-src 'sha256-${digest}'; img-src data:`,
    );
    expect(text).not.toMatch(/<script|<link|<img| on\w+=| style=|url\(|@import/);
  });

  it('shows every operation and schema once, and its links lead somewhere', async () => {
    const { text } = await page();
    const document = await read('/openapi.json');
    const ids = Array.from(text.matchAll(/ id="([^"]+)"/g), ([, id]) => id);
    expect(ids.length).toBe(new Set(ids).size);
    expect(ids).toEqual(expect.arrayContaining(operationsOf(document).map(({ operation }) => operation.operationId)));
    const targets = Array.from(text.matchAll(/href="#([^"]+)"/g), ([, target]) => target);
    expect(targets.filter((target) => !ids.includes(target))).toEqual([]);
  });

  it('shows what an agent says of itself as text', async () => {
    const agent = { agent: () => 'hello', name: '<b>Bold</b>', description: '"><script>alert(1)</script>' };
    const { text } = await page(createA2AHost({ agents: { '/': agent }, openapi: true }));
    expect(text).toContain('&#60;b&#62;Bold&#60;/b&#62; at /');
    expect(text).not.toContain('<script');
  });
});

it('a certificate is needed in the description for 3.0, too, which has no word for it', () => {
  const get = { operationId: 'x', tags: [], summary: 'x', responses: {}, security: [{ mtls: [] }] };
  const document: OpenApiDocument = {
    openapi: '3.1.1',
    info: { title: 't', version: '1', description: 'd' },
    tags: [],
    paths: { '/x': { get } },
    components: { schemas: {}, securitySchemes: { mtls: { type: 'mutualTLS' } } },
  };
  const { paths, components } = toOpenApi30(document);
  expect(paths['/x']?.get?.security).toEqual([{ mtls: [] }]);
  expect(components.securitySchemes?.mtls).toMatchObject({ type: 'http', scheme: 'certificate' });
});
