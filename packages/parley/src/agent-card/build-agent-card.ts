import type { AgentCard, AgentInterface } from '../model/agent-card.js';
import type { SecurityRequirement, SecurityScheme } from '../model/security-scheme.js';
import type { AgentCardOptions } from './agent-card-options.js';
import { type OfferedExtensions, offeredExtensions } from './offered-extensions.js';

/** Capabilities of the running server. Authors cannot set this part of a card. */
export interface ServedCapabilities extends OfferedExtensions {
  readonly streaming: boolean;
  readonly pushNotifications: boolean;
  readonly extendedAgentCard: boolean;
  /** Schemes that the authenticator can check. */
  readonly securitySchemes?: Readonly<Record<string, SecurityScheme>>;
  /** Requirements that the authenticator enforces. */
  readonly securityRequirements?: readonly SecurityRequirement[];
}

/** Sources of a card. */
interface AgentCardSource {
  readonly options: AgentCardOptions;
  readonly served: ServedCapabilities;
  /** In order of preference (Spec §4.4.6). */
  readonly interfaces: readonly AgentInterface[];
}

/** The name and the version in the card of an agent. */
export function nameAndVersion({
  name = 'A2A Agent',
  version = '1.0.0',
}: AgentCardOptions): Pick<AgentCard, 'name' | 'version'> {
  return { name, version };
}

/**
 * Builds a card that matches the server: the description from the options, the capabilities from the server. All
 * capabilities are written out.
 */
export function buildAgentCard({ options, served, interfaces }: AgentCardSource): AgentCard {
  const { name, version } = nameAndVersion(options);
  const securitySchemes = options.securitySchemes ?? served.securitySchemes;
  const securityRequirements = options.securityRequirements ?? served.securityRequirements;
  return {
    name,
    description: options.description ?? 'A2A Protocol Agent',
    supportedInterfaces: interfaces,
    ...(options.provider && { provider: options.provider }),
    version,
    ...(options.documentationUrl && { documentationUrl: options.documentationUrl }),
    capabilities: {
      streaming: served.streaming,
      pushNotifications: served.pushNotifications,
      extensions: [...offeredExtensions(served), ...(options.extensions ?? [])],
      extendedAgentCard: served.extendedAgentCard,
    },
    ...(securitySchemes && { securitySchemes }),
    ...(securityRequirements && { securityRequirements }),
    defaultInputModes: options.defaultInputModes ?? ['text/plain'],
    defaultOutputModes: options.defaultOutputModes ?? ['text/plain'],
    skills: (options.skills ?? []).map((skill) => ({ ...skill, tags: skill.tags ?? [] })),
    ...(options.iconUrl && { iconUrl: options.iconUrl }),
  };
}
