import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { EmptyFolder, parley, parleyJson, ServedAgent } from './parley.js';
import { type Answer, plainCard, type RecordedRequest, RecordingAgent, result } from './recording-agent.js';

const folder = new EmptyFolder();
afterAll(() => folder[Symbol.dispose]());

function file(name: string, content: string): string {
  const path = join(folder.path, name);
  writeFileSync(path, content);
  return path;
}

const partsOf = ({ body }: RecordedRequest | undefined = {} as RecordedRequest) =>
  (body.params.message as { parts: unknown[] }).parts;

async function requestOf(args: readonly string[], input?: string): Promise<RecordedRequest> {
  await using agent = await RecordingAgent.start();
  const { code, stderr } = await parley(['send', '-a', agent.url, ...args], input === undefined ? {} : { input });
  expect(stderr).toBe('');
  expect(code).toBe(0);
  expect(agent.calls).toHaveLength(1);
  return agent.calls[0] as RecordedRequest;
}

describe('what is sent', () => {
  it('SEND_006: parts have the order of their flags, after the message', async () => {
    const csv = file('table.csv', 'a,b\n');
    const json = file('facts.json', '{"n":1}');
    const args = [
      'first',
      '--data',
      json,
      '--text',
      'second',
      '--file',
      csv,
      '--data',
      '-',
      '--file',
      'https://example.com/x.png?y=1',
    ];
    expect(partsOf(await requestOf(args, '[1,2]'))).toEqual([
      { text: 'first' },
      { data: { n: 1 } },
      { text: 'second' },
      { raw: Buffer.from('a,b\n').toString('base64'), filename: 'table.csv', mediaType: 'text/csv' },
      { data: [1, 2] },
      { url: 'https://example.com/x.png?y=1', mediaType: 'image/png' },
    ]);
  });

  it('SEND_005: --media-type applies to the part before it; without it the type is inferred', async () => {
    const csv = file('again.csv', 'a,b\n');
    const args = [
      '--file',
      csv,
      '--media-type',
      'text/x-special',
      '--text',
      '# hi',
      '--media-type',
      'text/markdown',
      '--data',
      '{"a":1}',
    ];
    expect(partsOf(await requestOf(args))).toMatchObject([
      { filename: 'again.csv', mediaType: 'text/x-special' },
      { text: '# hi', mediaType: 'text/markdown' },
      { data: { a: 1 } },
    ]);
    for (const wrong of [
      ['--media-type', 'text/x', '--text', 'x'],
      ['message', '--media-type', 'text/x'],
      ['--text', 'x', '--media-type', 'a/b', '--media-type', 'c/d'],
    ])
      expect((await parley(['send', '-a', 'localhost:9', ...wrong])).code).toBe(2);
  });

  it('the message can come from standard input, and flags of parts have aliases', async () => {
    expect(partsOf(await requestOf(['-'], 'from stdin'))).toEqual([{ text: 'from stdin' }]);
    expect(partsOf(await requestOf(['--text-part', 'a', '--data-part', '{"b":1}']))).toEqual([
      { text: 'a' },
      { data: { b: 1 } },
    ]);
  });

  it('INTERACT_001, INTERACT_002, INTERACT_003: only the given ids are sent', async () => {
    expect((await requestOf(['x'])).body.params.message).not.toHaveProperty('taskId');
    expect((await requestOf(['x'])).body.params.message).not.toHaveProperty('contextId');
    expect((await requestOf(['x', '--context-id', 'c-9'])).body.params.message).toMatchObject({ contextId: 'c-9' });
    const both = await requestOf(['x', '--task-id', 't-9', '--context-id', 'c-9']);
    expect(both.body.params.message).toMatchObject({ taskId: 't-9', contextId: 'c-9' });
  });

  it('metadata is sent in the payload, service parameters in headers', async () => {
    const { body, headers } = await requestOf([
      'x',
      '--metadata',
      '{"k":[1]}',
      '--svc-param',
      'x-one:1',
      '--svc-param',
      'X-Two=a:b',
    ]);
    expect(body.params).toMatchObject({ metadata: { k: [1] } });
    expect(headers).toMatchObject({ 'x-one': '1', 'x-two': 'a:b' });
  });

  it('VER_001: every request has the version header', async () => {
    await using agent = await RecordingAgent.start();
    await parley(['send', '-a', agent.url, 'x']);
    expect(agent.requests).toHaveLength(2);
    expect(agent.requests.map(({ headers }) => headers['a2a-version'])).toEqual(['1.0', '1.0']);
  });

  it('TX_003: the tenant of the interface is sent as declared, and none without one', async () => {
    expect((await requestOf(['x'])).body.params).not.toHaveProperty('tenant');
    const tenantCard = (url: string) => ({
      supportedInterfaces: [
        { url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: 'acme/1' },
      ],
    });
    await using agent = await RecordingAgent.start({ card: tenantCard });
    await parley(['send', '-a', agent.url, 'x']);
    await parley(['send', '-a', agent.url, 'x', '--tenant', 'other']);
    expect(agent.calls.map(({ body }) => body.params.tenant)).toEqual(['acme/1', 'other']);
  });

  it('--request-payload is the whole request', async () => {
    const payload = { message: { messageId: 'mine', role: 'ROLE_USER', parts: [{ text: 'x' }] }, metadata: { a: 1 } };
    const { body } = await requestOf(['--request-payload', JSON.stringify(payload)]);
    expect(body.params).toMatchObject(payload);
    const wrong = await parley(['send', '-a', 'localhost:9', '--request-payload', '{}', '--text', 'x']);
    expect(wrong.stderr).toMatch(/--text has no place beside it/);
  });

  it('-e calls an address without a card', async () => {
    await using agent = await RecordingAgent.start();
    const { code } = await parley(['send', '-e', `${agent.url}/rpc`, '--transport', 'jsonrpc', 'x']);
    expect(code).toBe(0);
    expect(agent.requests.map(({ path }) => path)).toEqual(['/rpc']);
    expect((await parley(['send', '-e', agent.url, 'x'])).stderr).toMatch(/needs exactly one --transport/);
  });
});

describe('the called agent', () => {
  it('CARD_GET_001: the card is found by host, origin, URL of the card, path and file:// URL', async () => {
    await using agent = await RecordingAgent.start();
    const path = file('card.json', JSON.stringify(plainCard(agent.url)));
    const references = [
      agent.url,
      `${agent.url}/`,
      new URL(agent.url).host,
      `${agent.url}/.well-known/agent-card.json`,
    ];
    for (const reference of [...references, path, pathToFileURL(path).href]) {
      expect(await parleyJson(['card', 'get', '-a', reference])).toMatchObject({ name: 'Recorder' });
      expect((await parley(['send', '-a', reference, 'x'])).code).toBe(0);
    }
    expect(await parleyJson(['card', 'get', agent.url])).toMatchObject({ name: 'Recorder' });
    expect(await parleyJson(['card', 'get'], { env: { A2ACLI_AGENT_CARD: agent.url } })).toMatchObject({
      name: 'Recorder',
    });
  });

  it('CARD_GET_002: --validate checks the card against the schema', async () => {
    await using right = await RecordingAgent.start();
    expect((await parley(['card', 'get', right.url, '--validate'])).stderr).toBe('The card follows the schema.\n');
    await using wrong = await RecordingAgent.start({ card: { skills: [{ id: 'x' }], extra: 1 } });
    const { code, stderr } = await parley(['card', 'get', wrong.url, '--validate']);
    expect(stderr).toMatch(/A2ACLI_ERR_CARD_INVALID: .*skills\[0\]\.name/);
    expect(stderr).toMatch(/warning: .*extra/);
    expect(code).toBe(1);
  });

  it('CARD_GET_005: a catalog selects its only agent, or the agent after #', async () => {
    await using agent = await RecordingAgent.start();
    const entry = (identifier: string) => ({
      identifier,
      type: 'application/a2a-agent-card+json',
      url: `${agent.url}/.well-known/agent-card.json`,
    });
    const one = file('one.json', JSON.stringify({ specVersion: '1.0', entries: [entry('urn:air:x:a')] }));
    const two = file(
      'two.json',
      JSON.stringify({ specVersion: '1.0', entries: [entry('urn:air:x:a'), entry('urn:air:x:b')] }),
    );
    expect(await parleyJson(['card', 'get', one])).toMatchObject({ name: 'Recorder' });
    expect(await parleyJson(['card', 'get', `${two}#urn:air:x:b`])).toMatchObject({ name: 'Recorder' });
    const several = await parley(['card', 'get', two]);
    expect(several.code).toBe(2);
    expect(several.stderr).toMatch(/urn:air:x:a, urn:air:x:b/);
  });

  it('TX_001, TX_002, TX_004: calls the first supported interface of the card, or that of --transport', async () => {
    const cardWithGrpc = (url: string) => ({
      supportedInterfaces: [
        { url: '127.0.0.1:1', protocolBinding: 'GRPC', protocolVersion: '1.0' },
        { url: `${url}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
        { url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      ],
    });
    const message = { messageId: 'a', role: 'ROLE_AGENT', parts: [{ text: 'heard' }] };
    const answer: Answer = ({ path }) => (path.startsWith('/rest') ? { body: { message } } : result({ message }));
    await using agent = await RecordingAgent.start({ card: cardWithGrpc, answer });
    for (const flags of [
      [],
      ['--transport', 'jsonrpc'],
      ['--transport', 'GRPC', '--transport', 'JSONRPC'],
      ['--transport', 'rest'],
    ])
      expect((await parley(['send', '-a', agent.url, 'x', ...flags])).code).toBe(0);
    expect(agent.calls.map(({ path }) => path)).toEqual(['/rest/message:send', '/rpc', '/rpc', '/rest/message:send']);
    expect((await parley(['send', '-a', agent.url, 'x', '--transport', 'carrier-pigeon'])).code).toBe(2);
  });

  it('VER_001: --a2a-version selects an older version', async () => {
    await using agent = await ServedAgent.start(['demo-server']);
    const { stdout, stderr, code } = await parley([
      'send',
      '-a',
      agent.url,
      'hello',
      '--a2a-version',
      '0.3',
      '--debug',
    ]);
    expect(stderr).toMatch(/> .*"method":"message\/send"/);
    expect(stdout).toMatch(/^State: COMPLETED$/m);
    expect(code).toBe(0);
  });

  it('VER_001: without --a2a-version it never calls a version below 1.0', async () => {
    const old = (url: string) => ({
      supportedInterfaces: [{ url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '0.3' }],
    });
    await using agent = await RecordingAgent.start({ card: old });
    const { code, stderr } = await parley(['send', '-a', agent.url, 'x']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/VersionNotSupportedError: .*0\.3/);
    expect(stderr).toMatch(/hint: .*--a2a-version 0\.3/);
    expect(agent.calls).toEqual([]);
  });
});
