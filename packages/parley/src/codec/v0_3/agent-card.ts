import type { AgentCard, AgentInterface, AgentSkill } from '../../model/agent-card.js';
import { boundInterfaces } from '../../model/bound-interface.js';
import { isObject } from '../../model/json.js';
import type { SecurityScheme } from '../../model/security-scheme.js';
import { FILES_EXTENSION } from '../../operations/files-extension.js';
import { majorMinor } from '../../operations/versions.js';
import { readVersion } from '../card-form.js';
import type { Members } from './members-reader.js';
import { writeSecurity, writeSecurityScheme } from './security-scheme.js';
import type { AgentCapabilities } from './wire-types.js';

/** The transport name of interfaces whose methods take plain arguments. */
const CAPNWEB_TRANSPORT = 'CAPNWEB';

/**
 * The members of a card that Cap'n Web clients read. They state what the server serves, even if the card does not list
 * the interface.
 */
const CAPNWEB_CAPABILITIES = {
  bidirectional: true,
  taskManagement: true,
  fileTransfer: true,
} as const satisfies AgentCapabilities;

/**
 * Writes a card for clients of a version before 1.0, with the addresses of that version. `protocolVersion` has its
 * patch number, as usual at that time. Signatures are left out, because they cover the card of 1.0.
 */
export function writeAgentCard(protocolVersion: string, card: AgentCard): object {
  const { capabilities, securitySchemes = {} } = card;
  const version = majorMinor(protocolVersion);
  const isOfVersion = ({ protocolVersion }: AgentInterface) => majorMinor(protocolVersion) === version;
  const addresses = card.supportedInterfaces
    .filter(isOfVersion)
    .map(({ url, protocolBinding: transport }) => ({ url, transport }));
  const [preferred] = addresses;
  const schemes = Object.entries(securitySchemes).flatMap(([name, scheme]) => schemeEntry(name, scheme));
  const hasCapnweb = boundInterfaces(card).some((one) => isOfVersion(one) && one.protocolBinding === CAPNWEB_TRANSPORT);
  return {
    protocolVersion,
    name: card.name,
    description: card.description,
    url: preferred?.url ?? '',
    preferredTransport: preferred?.transport ?? 'JSONRPC',
    additionalInterfaces: addresses,
    iconUrl: card.iconUrl,
    provider: card.provider,
    version: card.version,
    documentationUrl: card.documentationUrl,
    capabilities: {
      streaming: capabilities.streaming,
      pushNotifications: capabilities.pushNotifications,
      stateTransitionHistory: false,
      ...(capabilities.extensions?.some(({ uri }) => uri === FILES_EXTENSION) && { fileTransfer: true }),
      ...(hasCapnweb && CAPNWEB_CAPABILITIES),
      extensions: capabilities.extensions,
    },
    ...(hasCapnweb && { authentication: schemes.map(authenticationEntry) }),
    securitySchemes: card.securitySchemes && Object.fromEntries(schemes),
    security: writeSecurity(card.securityRequirements),
    defaultInputModes: card.defaultInputModes,
    defaultOutputModes: card.defaultOutputModes,
    skills: card.skills.map(writeSkill),
    supportsAuthenticatedExtendedCard: capabilities.extendedAgentCard ?? false,
  };
}

function schemeEntry(name: string, scheme: SecurityScheme): readonly (readonly [string, Members])[] {
  const written = writeSecurityScheme(scheme);
  return written === undefined ? [] : [[name, { ...written }]];
}

/** The type with which `authenticate` takes a credential of a scheme, by the type of the scheme. */
const AUTHENTICATION_TYPES: Readonly<Record<string, string>> = {
  apiKey: 'apikey',
  oauth2: 'oauth2',
  openIdConnect: 'oauth2',
  mutualTLS: 'mtls',
};

function authenticationEntry([name, { type, scheme, description }]: readonly [string, Members]): object {
  const isBearer = type === 'http' && String(scheme).toLowerCase() === 'bearer';
  return {
    type: isBearer ? 'bearer' : (AUTHENTICATION_TYPES[String(type)] ?? 'custom'),
    description,
    parameters: { scheme: name },
  };
}

function writeSkill({ securityRequirements, ...skill }: AgentSkill): object {
  return { ...skill, security: writeSecurity(securityRequirements) };
}

/** Writes a card in ProtoJSON: as in 1.0, but for the names that 1.0 changed. */
export function writeProtoCard(protocolVersion: string, card: AgentCard): object {
  const written = writeAgentCard(protocolVersion, card) as Readonly<Record<string, unknown>>;
  const { streaming, pushNotifications, extensions } = card.capabilities;
  const { iconUrl: _, ...rest } = written;
  return {
    ...rest,
    capabilities: { streaming, pushNotifications, extensions },
    securitySchemes: card.securitySchemes,
    security: card.securityRequirements,
    skills: card.skills.map(({ securityRequirements, ...skill }) => ({ ...skill, security: securityRequirements })),
  };
}

/**
 * Brings a card of a version before 1.0 into the form of 1.0, unchecked: the main address first, then the others.
 * Signatures are dropped, because they cover the form before it was read.
 */
export function readAgentCard(value: Members): object {
  const { protocolVersion, url, preferredTransport, additionalInterfaces, signatures: _, ...card } = value;
  const { supportsAuthenticatedExtendedCard, ...rest } = card;
  const said = majorMinor(readVersion(protocolVersion ?? value.protocol_version) ?? '0.3');
  // Some implementations give their build of 0.3 this number.
  const version = said === '0.4' ? '0.3' : said;
  const listed = additionalInterfaces ?? value.additional_interfaces;
  const others = Array.isArray(listed) ? listed.filter(isObject) : [];
  const transport = (preferredTransport ?? value.preferred_transport) || 'JSONRPC';
  return {
    ...rest,
    supportedInterfaces: [{ url, transport }, ...others].map((address) => ({ ...address, protocolVersion: version })),
    capabilities: readCapabilities(
      rest.capabilities,
      supportsAuthenticatedExtendedCard ?? value.supports_authenticated_extended_card,
    ),
  };
}

function readCapabilities(value: unknown, extendedAgentCard: unknown): object {
  const { stateTransitionHistory: _, ...capabilities } = isObject(value) ? value : {};
  return { ...capabilities, ...(typeof extendedAgentCard === 'boolean' && { extendedAgentCard }) };
}
