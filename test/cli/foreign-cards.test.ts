import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { result, StubAgent, type StubAnswer } from '../client/stub-agent.js';
import { EmptyFolder, parley, parleyJson } from './parley.js';

const CARD = '/.well-known/agent-card.json';
const folder = new EmptyFolder();
afterAll(() => folder[Symbol.dispose]());

const message = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'heard' }] };

/** Starts an agent that answers messages and serves a document at a path. */
function serveDocument(path: string, document: (stub: StubAgent) => StubAnswer): Promise<StubAgent> {
  return StubAgent.start(({ method, url }, stub) => {
    if (method === 'POST') return result({ message });
    return url === path ? document(stub) : { status: 404 };
  });
}

function file(name: string, content: string): string {
  const path = join(folder.path, name);
  writeFileSync(path, content);
  return path;
}

const plain = (members: object = {}) => ({
  name: 'A',
  description: '',
  version: '1',
  capabilities: {},
  defaultInputModes: [],
  defaultOutputModes: [],
  skills: [],
  ...members,
});

describe('the url of a card that does not end in .json', () => {
  it.each(['/a2a/v1/card', '/agents/5'])('%s is accepted by card get and send', async (path) => {
    await using stub = await serveDocument(path, (own) => ({ body: own.card() }));
    const reference = stub.url + path;
    expect(await parleyJson(['card', 'get', reference])).toMatchObject({ name: 'Stub' });
    const sent = await parley(['send', 'x', '-a', reference]);
    expect(sent.stdout).toContain('heard');
    expect(sent.code).toBe(0);
  });
});

describe('a document that is no card is A2ACLI_ERR_CARD_INVALID, with exit code 1', () => {
  it.each<readonly [string, string, RegExp]>([
    ['a page', '<!doctype html><p>Hello</p>', /is a web page/],
    ['an error', '{"error":"none"}', /its members are error/],
    ['an OpenAPI document', '{"openapi":"3.1.0","info":{},"paths":{}}', /openapi, info, paths/],
    ['a list', '[]', /is a list/],
  ])('%s', async (_, body, says) => {
    for (const path of [CARD, '/card.json', '/a2a/v1/card']) {
      await using stub = await serveDocument(path, () => ({ body }));
      const reference = path === CARD ? stub.url : stub.url + path;
      for (const args of [
        ['card', 'get', reference],
        ['send', 'x', '-a', reference],
      ]) {
        const { code, stdout } = await parley([...args, '-o', 'json']);
        expect(JSON.parse(stdout).error).toMatchObject({
          code: 'A2ACLI_ERR_CARD_INVALID',
          message: expect.stringMatching(says),
        });
        expect(code).toBe(1);
      }
    }
  });
});

describe('card get is tolerant, and --validate is strict', () => {
  it.each<readonly [string, object, RegExp]>([
    [
      'a card that says 1.0 and lists no interfaces',
      { protocolVersion: '1.0', url: 'https://a.example', preferredTransport: 'JSONRPC' },
      /supportedInterfaces is required/,
    ],
    ['an empty list of interfaces', { supportedInterfaces: [] }, /supportedInterfaces is empty/],
    [
      'an entry without a binding',
      { supportedInterfaces: [{ url: 'https://a.example' }] },
      /supportedInterfaces\[0\]\.protocolBinding is required/,
    ],
    ['skills: null', { supportedInterfaces: [], skills: null }, /skills is required/],
  ])('%s', async (name, members, says) => {
    const path = file(`${name.replace(/\W/g, '-')}.json`, JSON.stringify(plain(members)));
    expect(await parleyJson(['card', 'get', path])).toMatchObject({ name: 'A' });
    const { code, stderr } = await parley(['card', 'get', path, '--validate']);
    expect(stderr).toMatch(/A2ACLI_ERR_CARD_INVALID/);
    expect(stderr).toMatch(says);
    expect(code).toBe(1);
  });

  it('a file may begin with a byte order mark', async () => {
    const path = file('marked.json', `\uFEFF${JSON.stringify(plain({ supportedInterfaces: [] }))}`);
    expect(await parleyJson(['card', 'get', path])).toMatchObject({ name: 'A' });
  });

  it('unknown schemes and incomplete skills are shown', async () => {
    const path = file(
      'shapes.json',
      JSON.stringify(
        plain({
          supportedInterfaces: [],
          securitySchemes: { odd: { quantumSecurityScheme: {} }, key: { apiKeySecurityScheme: null } },
          securityRequirements: [{ odd: [] }, null],
          skills: [{ id: 's' }],
          provider: { organization: 'O' },
        }),
      ),
    );
    const { code, stdout } = await parley(['card', 'get', path, '--verbose']);
    expect(stdout).toMatch(/odd: a scheme that this tool does not know/);
    expect(stdout).toMatch(/Requires: +odd\n/);
    expect(stdout).toMatch(/Requires: +something that cannot be read/);
    expect(code).toBe(0);
  });

  it('a refusal by an agent with an unknown scheme is A2ACLI_ERR_CREDENTIALS_MISSING', async () => {
    await using stub = await StubAgent.start(({ method }, own) =>
      method === 'POST'
        ? { status: 401 }
        : { body: { ...own.card(), securitySchemes: { odd: { quantumSecurityScheme: {} } } } },
    );
    const { code, stderr } = await parley(['send', 'x', '-a', stub.url]);
    expect(stderr).toMatch(/A2ACLI_ERR_CREDENTIALS_MISSING/);
    expect(code).toBe(4);
  });

  it('a login finds no server in schemes without urls', async () => {
    const securitySchemes = {
      id: { openIdConnectSecurityScheme: {} },
      device: { type: 'oauth2', flows: { deviceCode: {} } },
    };
    await using stub = await serveDocument(CARD, (own) => ({ body: { ...own.card(), securitySchemes } }));
    const { code, stderr } = await parley(['auth', 'login', '-a', stub.url, '--client-id', 'c']);
    expect(stderr).toMatch(/A2ACLI_ERR_USAGE: the card has no OAuth or OpenID Connect scheme/);
    expect(code).toBe(2);
  });
});
