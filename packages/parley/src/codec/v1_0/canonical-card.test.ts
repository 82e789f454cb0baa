import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../model/canonical-json.js';
import type { ValueForm } from '../../model/type-row.js';
import { TYPE_TABLE, type TypeName } from '../../model/type-table.generated.js';
import { canonicalCard, EXPLICIT_MEMBERS } from './canonical-card.js';

/** A card in which every member of every type is set. */
const FULL = {
  name: 'Weather',
  description: 'Knows the weather',
  supportedInterfaces: [
    { url: 'https://a.example/rpc', protocolBinding: 'JSONRPC', tenant: 'north', protocolVersion: '1.0' },
  ],
  provider: { url: 'https://a.example', organization: 'Example' },
  version: '1.2.3',
  documentationUrl: 'https://a.example/docs',
  capabilities: {
    streaming: true,
    pushNotifications: true,
    extensions: [{ uri: 'urn:x', description: 'X', required: true, params: { deep: [{ b: 1, a: null }] } }],
    extendedAgentCard: true,
  },
  securitySchemes: {
    key: { apiKeySecurityScheme: { description: 'K', location: 'header', name: 'X-Key' } },
    http: { httpAuthSecurityScheme: { description: 'H', scheme: 'Bearer', bearerFormat: 'JWT' } },
    code: oauth('authorizationCode', {
      authorizationUrl: 'https://l.example/a',
      tokenUrl: 'https://l.example/t',
      pkceRequired: true,
    }),
    client: oauth('clientCredentials', { tokenUrl: 'https://l.example/t' }),
    device: oauth('deviceCode', { deviceAuthorizationUrl: 'https://l.example/d', tokenUrl: 'https://l.example/t' }),
    implicit: oauth('implicit', { authorizationUrl: 'https://l.example/a' }),
    password: oauth('password', { tokenUrl: 'https://l.example/t' }),
    oidc: { openIdConnectSecurityScheme: { description: 'O', openIdConnectUrl: 'https://l.example' } },
    tls: { mtlsSecurityScheme: { description: 'M' } },
  },
  securityRequirements: [{ schemes: { key: { list: ['read'] } } }],
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [
    {
      id: 's',
      name: 'S',
      description: 'D',
      tags: ['t'],
      examples: ['e'],
      inputModes: ['text/plain'],
      outputModes: ['text/plain'],
      securityRequirements: [{ schemes: { key: { list: ['write'] } } }],
    },
  ],
  iconUrl: 'https://a.example/icon.png',
};

function oauth(name: string, flow: object): object {
  const flows = { [name]: { ...flow, refreshUrl: 'https://l.example/r', scopes: { read: 'Reads' } } };
  return { oauth2SecurityScheme: { description: 'F', flows, oauth2MetadataUrl: 'https://l.example/m' } };
}

/** The types that a card is made of. */
function typesOfCards(type: TypeName = 'AgentCard', found = new Set<TypeName>()): Set<TypeName> {
  if (found.has(type)) return found;
  found.add(type);
  const typeOf = (form: ValueForm): TypeName | undefined =>
    form.is === 'object' ? form.type : form.is === 'list' || form.is === 'map' ? typeOf(form.of) : undefined;
  for (const { name, form } of TYPE_TABLE[type].members) {
    const inner = type === 'AgentCard' && name === 'signatures' ? undefined : typeOf(form);
    if (inner !== undefined) typesOfCards(inner, found);
  }
  return found;
}

describe('the form of a card that is signed (§8.4.1)', () => {
  it('is that of the example in the specification', () => {
    const card = canonicalCard({
      name: 'Example Agent',
      description: '',
      capabilities: { streaming: false, pushNotifications: false, extensions: [] },
      skills: [],
    });
    const text = canonicalJson(card);
    expect(text).toMatch(/^\{"capabilities":\{"pushNotifications":false,"streaming":false\},/);
    expect(text).toMatch(/.*"description":"",.*"name":"Example Agent","skills":\[\],/);
  });

  it('of a card without anything has what is required, and nothing else', () => {
    const interfaces = [{ url: 'u', protocolBinding: 'JSONRPC', tenant: '', protocolVersion: '' }];
    expect(
      canonicalCard({ supportedInterfaces: interfaces, signatures: [{ protected: 'p', signature: 's' }] }),
    ).toEqual({
      name: '',
      description: '',
      supportedInterfaces: [{ url: 'u', protocolBinding: 'JSONRPC', protocolVersion: '' }],
      version: '',
      capabilities: {},
      defaultInputModes: [],
      defaultOutputModes: [],
      skills: [],
    });
  });

  it('leaves nothing out of a card that says everything', () => {
    expect(canonicalCard({ ...FULL, signatures: [] })).toEqual(FULL);
  });

  it('is known for every optional member of the types of cards', () => {
    const rows = [...typesOfCards()].flatMap((type) =>
      TYPE_TABLE[type].members.map((member) => ({ ...member, path: `${type}.${member.name}` })),
    );
    expect(new Set(rows.map(({ form }) => form.is))).toEqual(
      new Set(['string', 'boolean', 'list', 'map', 'object', 'free', 'enum']),
    );
    const byDefault = rows
      .filter(({ required, form, path }) => !required && !EXPLICIT_MEMBERS.has(path) && form.is !== 'object')
      .map(({ path }) => path);
    expect([...EXPLICIT_MEMBERS].filter((path) => !rows.some((row) => row.path === path && !row.required))).toEqual([]);
    expect(byDefault.sort()).toEqual([
      'AgentCapabilities.extensions',
      'AgentCard.securityRequirements',
      'AgentCard.securitySchemes',
      'AgentCard.signatures',
      'AgentExtension.description',
      'AgentExtension.params',
      'AgentExtension.required',
      'AgentExtension.uri',
      'AgentInterface.tenant',
      'AgentSkill.examples',
      'AgentSkill.inputModes',
      'AgentSkill.outputModes',
      'AgentSkill.securityRequirements',
      'ApiKeySecurityScheme.description',
      'AuthorizationCodeOAuthFlow.pkceRequired',
      'AuthorizationCodeOAuthFlow.refreshUrl',
      'ClientCredentialsOAuthFlow.refreshUrl',
      'DeviceCodeOAuthFlow.refreshUrl',
      'HttpAuthSecurityScheme.bearerFormat',
      'HttpAuthSecurityScheme.description',
      'ImplicitOAuthFlow.authorizationUrl',
      'ImplicitOAuthFlow.refreshUrl',
      'ImplicitOAuthFlow.scopes',
      'MutualTlsSecurityScheme.description',
      'OAuth2SecurityScheme.description',
      'OAuth2SecurityScheme.oauth2MetadataUrl',
      'OpenIdConnectSecurityScheme.description',
      'PasswordOAuthFlow.refreshUrl',
      'PasswordOAuthFlow.scopes',
      'PasswordOAuthFlow.tokenUrl',
      'SecurityRequirement.schemes',
      'StringList.list',
    ]);
  });

  it('keeps what was set, even to nothing, where the protocol tells that from what was not', () => {
    const card = {
      ...FULL,
      documentationUrl: '',
      iconUrl: '',
      provider: { url: '', organization: '' },
      capabilities: { streaming: false, extensions: [{ uri: 'urn:x', required: false, description: '', params: {} }] },
      securitySchemes: { tls: { mtlsSecurityScheme: { description: '' } } },
      securityRequirements: [{ schemes: { tls: { list: [] } } }, { schemes: {} }],
      skills: [{ id: 's', name: 'S', description: '', tags: [], examples: [] }],
    };
    expect(canonicalCard(card)).toEqual({
      ...card,
      capabilities: { streaming: false, extensions: [{ uri: 'urn:x', params: {} }] },
      securitySchemes: { tls: { mtlsSecurityScheme: {} } },
      securityRequirements: [{ schemes: { tls: {} } }, {}],
      skills: [{ id: 's', name: 'S', description: '', tags: [] }],
    });
  });

  it('does not depend on the order of members, nor on those that nobody knows', () => {
    const text = canonicalJson(canonicalCard(FULL));
    const unknown = fc.dictionary(
      fc.string({ minLength: 1 }).map((name) => `x${name}`),
      fc.jsonValue({ maxDepth: 2 }),
    );
    fc.assert(
      fc.property(unknown, fc.infiniteStream(fc.nat()), (more, order) => {
        const mangleValue = (value: unknown, isFree: boolean): unknown => {
          if (Array.isArray(value)) return value.map((item) => mangleValue(item, isFree));
          if (typeof value !== 'object' || value === null) return value;
          const entries = Object.entries(value).map(
            ([name, item]) => [name, mangleValue(item, isFree || MAPS.has(name) || name === 'params')] as const,
          );
          const others = isFree ? [] : Object.entries(more);
          const places = new Map([...entries, ...others].map((entry) => [entry, order.next().value]));
          return Object.fromEntries([...places.keys()].sort((a, b) => (places.get(a) ?? 0) - (places.get(b) ?? 0)));
        };
        expect(canonicalJson(canonicalCard(mangleValue(FULL, false) as object))).toBe(text);
      }),
      { numRuns: 50 },
    );
  });

  it('is the same for the other spellings that ProtoJSON allows', () => {
    const { supportedInterfaces, defaultInputModes, ...rest } = FULL;
    const respelled = { ...rest, supported_interfaces: supportedInterfaces, default_input_modes: defaultInputModes };
    expect(canonicalCard({ ...respelled, provider: { ...FULL.provider, x: null } })).toEqual(FULL);
  });
});

/** Members whose own names are chosen by the card. */
const MAPS: ReadonlySet<string> = new Set(['securitySchemes', 'schemes', 'scopes']);
