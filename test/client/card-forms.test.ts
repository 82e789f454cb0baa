import { describe, expect, it } from 'vitest';
import { type ConnectOptions, connect, fetchAgentCard } from '../../packages/parley/src/exports/client.js';
import { apiKey, bearerToken } from '../../packages/parley/src/exports/credentials.js';
import { result, StubAgent, type StubAnswer, task } from './stub-agent.js';

/** A card as JSON, of any form. */
type Document = Readonly<Record<string, unknown>>;

const URL_OF = 'https://a.example/rpc';
const entry = (more: object = {}) => ({ url: URL_OF, protocolBinding: 'JSONRPC', protocolVersion: '1.0', ...more });
const card = (more: object = {}): Document => ({ name: 'A', supportedInterfaces: [entry()], ...more });
const old = (more: object = {}): Document => ({
  name: 'A',
  url: URL_OF,
  protocolVersion: '0.3.0',
  capabilities: {},
  ...more,
});

/** Reads a card as a caller of the library sees it. */
const read = (document: Document) => fetchAgentCard(document as never);
const interfacesOf = async (document: Document) => (await read(document)).supportedInterfaces;
const ofBinding = (protocolBinding: unknown) => card({ supportedInterfaces: [entry({ protocolBinding })] });
const ofVersion = (protocolVersion: unknown) => card({ supportedInterfaces: [entry({ protocolVersion })] });

/** An agent that answers each call with a task, in the form of its version. */
function agent(): Promise<StubAgent> {
  return StubAgent.start(({ json }): StubAnswer => {
    const isOld = String(json?.method).includes('/');
    return result(isOld ? { kind: 'task', id: 't1', contextId: 'c1', status: { state: 'completed' } } : task());
  });
}

describe('the binding of an interface', () => {
  it.each([
    ...['JSONRPC', 'jsonrpc', 'JsonRpc', 'JSON-RPC', 'json-rpc', 'json_rpc', 'JSON RPC', ' JSONRPC '],
    ...['JSONRPC2.0', 'JSON-RPC 2.0', 'json-rpc/2.0'],
  ])('%j is JSONRPC', async (binding) => {
    expect(await interfacesOf(ofBinding(binding))).toEqual([entry()]);
    expect(await interfacesOf(old({ preferredTransport: binding }))).toEqual([entry({ protocolVersion: '0.3' })]);
  });

  it.each([
    ...['HTTP+JSON', 'http+json', 'HTTP_JSON', 'http-json', 'HTTP/JSON', 'HttpJson', 'HTTP+JSON/REST'],
    ...['REST', 'rest'],
  ])('%j is HTTP+JSON', async (binding) => {
    const wanted = entry({ protocolBinding: 'HTTP+JSON' });
    expect(await interfacesOf(ofBinding(binding))).toEqual([wanted]);
    expect(await interfacesOf(old({ preferredTransport: binding }))).toEqual([{ ...wanted, protocolVersion: '0.3' }]);
  });

  it.each(['GRPC', 'grpc', 'gRPC'])('%j is GRPC', async (binding) => {
    expect(await interfacesOf(ofBinding(binding))).toEqual([entry({ protocolBinding: 'GRPC' })]);
  });

  it.each(['CAPNWEB', 'WEBSOCKET', 'HTTP', 'https://bindings.example/json-rpc', 'urn:x:rest'])(
    '%j stays as it is: another binding is never guessed',
    async (binding) => {
      expect(await interfacesOf(ofBinding(binding))).toEqual([entry({ protocolBinding: binding })]);
      await expect(connect(ofBinding(binding) as never)).rejects.toMatchObject({ code: 'UNSUPPORTED_OPERATION' });
    },
  );

  it.each(['protocolBinding', 'protocol_binding', 'transport', 'type'])('may stand in %s', async (name) => {
    const { protocolBinding, ...rest } = entry();
    const [found] = await interfacesOf(card({ supportedInterfaces: [{ ...rest, [name]: 'json-rpc' }] }));
    expect(found).toMatchObject(entry());
  });

  it('counts where it is not empty', async () => {
    const [found] = await interfacesOf(card({ supportedInterfaces: [entry({ protocolBinding: '', type: 'rest' })] }));
    expect(found).toMatchObject(entry({ protocolBinding: 'HTTP+JSON' }));
  });

  it.each([undefined, null, ''])('%j in a card of 0.3 is JSONRPC', async (preferredTransport) => {
    expect(await interfacesOf(old({ preferredTransport }))).toEqual([entry({ protocolVersion: '0.3' })]);
  });
});

describe('the version of an interface', () => {
  it.each<readonly [unknown, string]>([
    ['1.0', '1.0'],
    ['1.0.0', '1.0'],
    ['1', '1.0'],
    ['v1', '1.0'],
    ['V1.0', '1.0'],
    [' 1.0 ', '1.0'],
    [1, '1.0'],
    ['', '1.0'],
    [null, '1.0'],
    [undefined, '1.0'],
    ['1.1', '1.0'],
    ['1.2.3', '1.0'],
    [1.1, '1.0'],
    ['0.3', '0.3'],
    ['0.3.0', '0.3'],
    ['v0.3.0', '0.3'],
    [0.3, '0.3'],
    ['0.2.6', '0.2'],
  ])('%j is called in %s', async (version, called) => {
    await using stub = await agent();
    const document = card({ supportedInterfaces: [entry({ url: stub.url, protocolVersion: version })] });
    const client = await connect(document as never);
    expect(client.agentInterface.protocolVersion).toBe(called);
    expect((await client.getTask('t1')).id).toBe('t1');
    if (called === '1.0') expect(stub.calls.at(-1)?.headers['a2a-version']).toBe('1.0');
  });

  it.each<readonly [unknown, string]>([
    ['0.3.0', '0.3'],
    ['v0.3', '0.3'],
    [0.3, '0.3'],
    ['', '0.3'],
    [null, '0.3'],
    [undefined, '0.3'],
    ['0.2.5', '0.2'],
    ['1.0', '1.0'],
    ['1', '1.0'],
    ['1.1.0', '1.0'],
  ])('of a card in the form of 0.3 that says %j is %s', async (protocolVersion, called) => {
    expect((await connect(old({ protocolVersion }) as never)).agentInterface.protocolVersion).toBe(called);
  });

  it.each(['2.0', '3', '0.1.0', 'draft'])('%j is not called, and the error says so', async (version) => {
    for (const document of [ofVersion(version), old({ protocolVersion: version })])
      await expect(connect(document as never)).rejects.toMatchObject({
        code: 'VERSION_NOT_SUPPORTED',
        message: expect.stringMatching(/^A speaks only .*this client speaks 1\.x, 0\.3 and 0\.2/),
      });
  });

  it('1.1 stays in the card, and counts only if nothing else can be called', async () => {
    const later = entry({ url: 'https://a.example/1.1', protocolVersion: '1.1' });
    const current = entry({ url: 'https://a.example/1.0' });
    const alone = await connect(card({ supportedInterfaces: [later] }) as never);
    expect(alone.card.supportedInterfaces).toEqual([later]);
    const both = await connect(card({ supportedInterfaces: [later, current] }) as never);
    expect(both.agentInterface).toEqual(current);
    const legacy = entry({ protocolVersion: '0.3' });
    const mixed = await connect(card({ supportedInterfaces: [later, legacy] }) as never);
    expect(mixed.agentInterface).toEqual(legacy);
    const pinned = await connect(card({ supportedInterfaces: [later, legacy] }) as never, { version: '1.0' });
    expect(pinned.agentInterface).toEqual({ ...later, protocolVersion: '1.0' });
    await expect(connect(card({ supportedInterfaces: [later] }) as never, { version: '1.1' })).rejects.toMatchObject({
      code: 'VERSION_NOT_SUPPORTED',
    });
  });
});

describe('an entry that cannot be read does not spoil the others', () => {
  const unreadable: readonly (readonly [string, unknown])[] = [
    ['null', null],
    ['a text', URL_OF],
    ['a number', 1],
    ['a list', []],
    ['an empty object', {}],
    ['no binding', { url: URL_OF, protocolVersion: '1.0' }],
    ['an empty binding', entry({ protocolBinding: '' })],
    ['a binding that is no text', entry({ protocolBinding: { name: 'JSONRPC' } })],
    ['no url', { protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    ['an empty url', entry({ url: '' })],
    ['a null url', entry({ url: null })],
    ['a url with content', entry({ url: 'data:application/json,{}' })],
    ['a url of a file', entry({ url: 'file:///etc/passwd' })],
    ['a url with a line break', entry({ url: 'https://a.example/\n' })],
    ['a url that is too long', entry({ url: `https://a.example/${'x'.repeat(2048)}` })],
  ];

  it.each(unreadable)('%s', async (_, bad) => {
    expect(await interfacesOf(card({ supportedInterfaces: [bad, entry(), bad] }))).toEqual([entry()]);
    const client = await connect(card({ supportedInterfaces: [bad, entry()] }) as never);
    expect(client.agentInterface).toEqual(entry());
    await expect(connect(card({ supportedInterfaces: [bad] }) as never)).rejects.toMatchObject({
      code: 'UNSUPPORTED_OPERATION',
      message: expect.stringContaining('its card has no interfaces'),
    });
  });

  it.each(unreadable.filter(([, bad]) => typeof bad !== 'string'))('%s, in a card of 0.3', async (_, bad) => {
    const { protocolBinding: transport, ...rest } = (bad ?? {}) as { readonly protocolBinding?: unknown };
    const additionalInterfaces = [bad === null ? null : { ...rest, transport }];
    const found = await interfacesOf(old({ additionalInterfaces }));
    expect(found).toEqual([entry({ protocolVersion: '0.3' })]);
  });

  it.each(['/rpc', './rpc', '//a.example/rpc', 'rpc'])(
    'a relative url, %s, is not resolved: no origin is invented',
    async (url) => {
      const document = card({ supportedInterfaces: [entry({ url }), entry()] });
      expect((await connect(document as never)).agentInterface).toEqual(entry());
      await expect(connect(ofUrl(url) as never)).rejects.toMatchObject({
        code: 'UNSUPPORTED_OPERATION',
        message: expect.stringContaining('its address is not http or https'),
      });
    },
  );
  const ofUrl = (url: string) => card({ supportedInterfaces: [entry({ url })] });

  it('unknown versions beside a known one', async () => {
    const document = card({ supportedInterfaces: [entry({ protocolVersion: '2.0' }), entry()] });
    expect((await connect(document as never)).agentInterface).toEqual(entry());
  });
});

describe('members of other shapes', () => {
  it.each<readonly [string, object]>([
    ['skills: null', { skills: null }],
    ['skills that is a text', { skills: 'none' }],
    ['skills with null and a text', { skills: [null, 'x', {}] }],
    ['capabilities: null', { capabilities: null }],
    ['capabilities that is a list', { capabilities: ['streaming'] }],
    ['capabilities.extensions: null', { capabilities: { extensions: null } }],
    ['security: null', { security: null, securityRequirements: null }],
    ['securitySchemes: null', { securitySchemes: null }],
    ['provider: null', { provider: null }],
    ['provider that is a text', { provider: 'Acme' }],
    ['modes: null', { defaultInputModes: null, defaultOutputModes: null }],
    ['an empty iconUrl and documentationUrl', { iconUrl: '', documentationUrl: '' }],
    ['iconUrl: null', { iconUrl: null, documentationUrl: null }],
    ['description: null', { description: null, version: null }],
    ['signatures: null', { signatures: null }],
  ])('%s counts as absent', async (_, members) => {
    const plain = {
      name: 'A',
      description: '',
      version: '',
      capabilities: {},
      defaultInputModes: [],
      defaultOutputModes: [],
      skills: [],
    };
    expect(await read(card(members))).toEqual({ ...plain, supportedInterfaces: [entry()] });
    const { security: _s, ...ofOld } = members as { readonly security?: unknown };
    expect(await read(old({ ...ofOld, ...('security' in members && { security: null }) }))).toEqual({
      ...plain,
      supportedInterfaces: [entry({ protocolVersion: '0.3' })],
    });
  });

  it('snake_case is read, also within, and names of maps and free members stay', async () => {
    const read1_0 = await read({
      name: 'A',
      supported_interfaces: [{ url: URL_OF, protocol_binding: 'JSONRPC', protocol_version: '1.0' }],
      default_input_modes: ['text/plain'],
      default_output_modes: ['text/html'],
      documentation_url: 'https://a.example/docs',
      icon_url: 'https://a.example/icon',
      capabilities: {
        push_notifications: true,
        extended_agent_card: true,
        extensions: [{ uri: 'urn:x', params: { a_b: 1 } }],
      },
      security_schemes: { my_key: { api_key_security_scheme: { location: 'header', name: 'x-key' } } },
      security_requirements: [{ schemes: { my_key: { list: [] } } }],
      skills: [{ id: 's', name: 'S', description: '', tags: [], input_modes: ['text/plain'] }],
    });
    expect(read1_0).toEqual({
      name: 'A',
      description: '',
      version: '',
      supportedInterfaces: [entry()],
      defaultInputModes: ['text/plain'],
      defaultOutputModes: ['text/html'],
      documentationUrl: 'https://a.example/docs',
      iconUrl: 'https://a.example/icon',
      capabilities: {
        pushNotifications: true,
        extendedAgentCard: true,
        extensions: [{ uri: 'urn:x', params: { a_b: 1 } }],
      },
      securitySchemes: { my_key: { apiKeySecurityScheme: { location: 'header', name: 'x-key' } } },
      securityRequirements: [{ schemes: { my_key: { list: [] } } }],
      skills: [{ id: 's', name: 'S', description: '', tags: [], inputModes: ['text/plain'] }],
    });
    const read0_3 = await read({
      name: 'A',
      url: URL_OF,
      protocol_version: '0.3.0',
      preferred_transport: 'jsonrpc',
      additional_interfaces: [{ url: 'https://a.example/rest', transport: 'http+json' }],
      supports_authenticated_extended_card: true,
      capabilities: { push_notifications: true, state_transition_history: false },
      security_schemes: { my_key: { type: 'http', scheme: 'bearer', bearer_format: 'JWT' } },
    });
    expect(read0_3).toMatchObject({
      supportedInterfaces: [
        entry({ protocolVersion: '0.3' }),
        { url: 'https://a.example/rest', protocolBinding: 'HTTP+JSON', protocolVersion: '0.3' },
      ],
      capabilities: { pushNotifications: true, extendedAgentCard: true },
      securitySchemes: { my_key: { httpAuthSecurityScheme: { scheme: 'bearer', bearerFormat: 'JWT' } } },
    });
  });

  it('snake_case in a card that the caller has names trusted interfaces, too', async () => {
    await using stub = await agent();
    const credentials = bearerToken('t');
    for (const document of [
      { name: 'A', supported_interfaces: [entry({ url: stub.url })] },
      {
        name: 'A',
        url: URL_OF,
        preferred_transport: 'x',
        additional_interfaces: [{ url: stub.url, transport: 'rest' }],
      },
    ]) {
      const client = await connect(document as never, { credentials });
      await client.getTask('t1').catch(() => {});
      expect(stub.calls.at(-1)?.headers.authorization).toBe('Bearer t');
    }
  });

  it('of skills, extensions and provider are completed or left out', async () => {
    const { skills, capabilities, provider, version, defaultInputModes } = await read(
      card({
        skills: [{ id: 's' }, { name: 'N', tags: null, examples: null, description: 1 }, { description: 'neither' }],
        capabilities: { streaming: 'true', pushNotifications: 'perhaps', extensions: [null, { uri: 'urn:x' }] },
        provider: { organization: 'O' },
        version: 2,
        defaultInputModes: ['text/plain', null, 3],
      }),
    );
    expect(skills).toEqual([
      { id: 's', name: 's', description: '', tags: [] },
      { id: 'N', name: 'N', description: '1', tags: [] },
    ]);
    expect(capabilities).toEqual({ streaming: true, extensions: [{ uri: 'urn:x' }] });
    expect(provider).toEqual({ organization: 'O', url: '' });
    expect([version, defaultInputModes]).toEqual(['2', ['text/plain', '3']]);
  });

  it('a name that would change the prototype of the card is a member like any other', async () => {
    const document = JSON.parse(
      `{"name":"A","supportedInterfaces":[],"__proto__":{"url":"https://evil.example"},"securitySchemes":{"__proto__":{}}}`,
    );
    const found = await read(document);
    expect(Object.getPrototypeOf(found)).toBe(Object.prototype);
    expect(found.supportedInterfaces).toEqual([]);
  });
});

describe('both halves of a hybrid card', () => {
  const halves = (supportedInterfaces: unknown) => ({
    ...old({ preferredTransport: 'jsonrpc', url: 'https://a.example/old' }),
    supportedInterfaces,
  });

  it('the half of 1.0 counts if it has an interface that can be read', async () => {
    expect(await interfacesOf(halves([entry()]))).toEqual([entry()]);
  });

  it.each<readonly [string, unknown]>([
    ['null', null],
    ['an empty list', []],
    ['unreadable entries', [null, { url: URL_OF }]],
  ])('the old half counts if that of 1.0 is %s', async (_, supportedInterfaces) => {
    expect(await interfacesOf(halves(supportedInterfaces))).toEqual([
      entry({ url: 'https://a.example/old', protocolVersion: '0.3' }),
    ]);
  });

  it('requirements of the old half count if that of 1.0 has none', async () => {
    const { securityRequirements } = await read(card({ security: [{ bearer: ['read'] }] }));
    expect(securityRequirements).toEqual([{ schemes: { bearer: { list: ['read'] } } }]);
    const both = { security: [{ other: [] }], securityRequirements: [{ schemes: { bearer: { list: [] } } }] };
    expect((await read(card(both))).securityRequirements).toEqual(both.securityRequirements);
  });
});

describe('required security that cannot be read is not none', () => {
  const SCHEMES = { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } };

  /** The headers of a call, or the error before it. */
  async function callAgent(members: object, options: ConnectOptions): Promise<unknown> {
    await using stub = await agent();
    const document = card({ supportedInterfaces: [entry({ url: stub.url })], ...members });
    const client = await connect(document as never, options);
    try {
      await client.getTask('t1');
      return stub.calls.at(-1)?.headers.authorization ?? 'anonymous';
    } catch (error) {
      expect(stub.calls).toEqual([]);
      return (error as Error).message;
    }
  }

  it.each<readonly [string, unknown]>([
    ['in the form of 0.3', [{ bearer: [] }]],
    ['a list of scopes', [{ schemes: { bearer: ['read'] } }]],
    ['no scopes', [{ schemes: { bearer: null } }]],
    ['an object', { bearer: [] }],
    ['a name', 'bearer'],
    ['names', ['bearer']],
    ['names of schemes', [{ schemes: ['bearer'] }]],
    ['a name of a scheme', [{ schemes: 'bearer' }]],
  ])('%s names the scheme', async (_, securityRequirements) => {
    const members = { securitySchemes: SCHEMES, securityRequirements };
    expect(await callAgent(members, { credentials: bearerToken('t') })).toBe('Bearer t');
    const { securitySchemes: _s, ...undeclared } = members;
    expect(await callAgent(undeclared, { credentials: bearerToken('t') })).toMatch(/^The agent asks for bearer/);
  });

  it.each<readonly [string, unknown]>([
    ['true', true],
    ['a list with null', [null]],
    ['a list with a number', [1]],
    ['a list in a list', [[]]],
    ['names and null', [['bearer', null]]],
    ['schemes that are true', [{ schemes: true }]],
  ])('%s is a requirement that nothing satisfies', async (_, securityRequirements) => {
    for (const members of [{ securitySchemes: SCHEMES, securityRequirements }, { securityRequirements }]) {
      expect(await callAgent(members, { credentials: bearerToken('t') })).toMatch(
        /^The agent asks for .*cannot be read.*given: a bearer token/,
      );
      // The error comes only if it is needed: the agent decides about a caller without credentials.
      expect(await callAgent(members, {})).toBe('anonymous');
    }
  });

  it.each<readonly [string, unknown]>([
    ['null', null],
    ['text', 'apiKey'],
    ['a location that nobody knows', { apiKeySecurityScheme: { location: 'body', name: 'k' } }],
    ['no name', { apiKeySecurityScheme: { location: 'header' } }],
    ['null of a kind', { apiKeySecurityScheme: null }],
    ['a kind that nobody knows', { quantumSecurityScheme: {} }],
    ['a type that nobody knows', { type: 'quantum' }],
    ['a place that nobody knows, of 0.3', { type: 'apiKey', in: 'body', name: 'k' }],
    ['two kinds', { ...SCHEMES.bearer, apiKeySecurityScheme: { location: 'header', name: 'k' } }],
  ])('a required scheme that is %s is served by no credential', async (_, scheme) => {
    const members = {
      securitySchemes: { odd: scheme },
      securityRequirements: [{ schemes: { odd: { list: [] } } }],
    };
    for (const credentials of [apiKey('k', { place: { location: 'header', name: 'k' } }), bearerToken('t')])
      expect(await callAgent(members, { credentials })).toMatch(/^The agent asks for odd; given: /);
  });

  it.each<readonly [string, object]>([
    ['HTTP of 0.3 in capitals', { type: 'HTTP', scheme: 'BEARER' }],
    ['a location in capitals', { apiKeySecurityScheme: { location: 'HEADER', name: 'authorization' } }],
    ['apikey of 0.3 in lower case', { type: 'apikey', in: 'Header', name: 'authorization' }],
    ['null beside a kind', { ...SCHEMES.bearer, apiKeySecurityScheme: null }],
    ['OAuth without flows', { type: 'oauth2' }],
    ['OAuth with flows: null', { oauth2SecurityScheme: { flows: null } }],
  ])('%s is read', async (_, scheme) => {
    const members = { securitySchemes: { s: scheme }, securityRequirements: [{ schemes: { s: { list: [] } } }] };
    const isKey = JSON.stringify(scheme).includes('authorization');
    expect(await callAgent(members, { credentials: isKey ? apiKey('t') : bearerToken('t') })).toBe(
      isKey ? 't' : 'Bearer t',
    );
  });
});
