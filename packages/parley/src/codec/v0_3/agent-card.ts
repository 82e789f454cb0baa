import type { AgentCard, AgentSkill } from '../../model/agent-card.js';
import type { SecurityScheme } from '../../model/security-scheme.js';
import { majorMinor } from '../../operations/versions.js';
import { writeSecurity, writeSecurityScheme } from './security-scheme.js';

/**
 * A card as clients of a version before 1.0 read it, with the addresses of that version. `protocolVersion` is written with its patch
 * number, as was the custom. Signatures are left out: they are over the card of 1.0.
 */
export function writeAgentCard(protocolVersion: string, card: AgentCard): object {
  const { capabilities, securitySchemes = {} } = card;
  const version = majorMinor(protocolVersion);
  const addresses = card.supportedInterfaces
    .filter((address) => majorMinor(address.protocolVersion) === version)
    .map(({ url, protocolBinding: transport }) => ({ url, transport }));
  const [preferred] = addresses;
  const schemes = Object.entries(securitySchemes).flatMap(([name, scheme]) => schemeEntry(name, scheme));
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
      extensions: capabilities.extensions,
    },
    securitySchemes: card.securitySchemes && Object.fromEntries(schemes),
    security: writeSecurity(card.securityRequirements),
    defaultInputModes: card.defaultInputModes,
    defaultOutputModes: card.defaultOutputModes,
    skills: card.skills.map(writeSkill),
    supportsAuthenticatedExtendedCard: capabilities.extendedAgentCard ?? false,
  };
}

function schemeEntry(name: string, scheme: SecurityScheme): readonly (readonly [string, object])[] {
  const written = writeSecurityScheme(scheme);
  return written === undefined ? [] : [[name, written]];
}

function writeSkill({ securityRequirements, ...skill }: AgentSkill): object {
  return { ...skill, security: writeSecurity(securityRequirements) };
}

/** The members of a card in ProtoJSON: as in 1.0, but for the names that 1.0 changed. */
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
