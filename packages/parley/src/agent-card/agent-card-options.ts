import type { AgentExtension, AgentProvider, AgentSkill } from '../model/agent-card.js';
import type { SecurityRequirement, SecurityScheme } from '../model/security-scheme.js';

/** A skill as an application writes it down. */
export type AgentSkillOptions = Omit<AgentSkill, 'tags'> & {
  readonly tags?: readonly string[];
};

/** What an agent says about itself. All else in its card follows from what is served. */
export interface AgentCardOptions {
  /** Default "A2A Agent". */
  readonly name?: string;
  /** Default "A2A Protocol Agent". */
  readonly description?: string;
  /** The agent's own version; default "1.0.0". */
  readonly version?: string;
  readonly provider?: AgentProvider;
  readonly documentationUrl?: string;
  readonly iconUrl?: string;
  readonly skills?: readonly AgentSkillOptions[];
  /** Media types; default `text/plain`. */
  readonly defaultInputModes?: readonly string[];
  /** Media types; default `text/plain`. */
  readonly defaultOutputModes?: readonly string[];
  /** Extensions of the agent's own (spec §4.6.1). */
  readonly extensions?: readonly AgentExtension[];
  /** How to authenticate, by name of the scheme; default: what the authenticator says of itself. */
  readonly securitySchemes?: Readonly<Record<string, SecurityScheme>>;
  /**
   * Requirements of a caller: one of these sets of schemes with their scopes (Spec §4.5). Clients of 0.3 read it as
   * `security`.
   */
  readonly securityRequirements?: readonly SecurityRequirement[];
}

/** The schemes that requirements name and nobody declares. */
export function undeclaredSchemes(
  { securityRequirements = [], skills = [] }: AgentCardOptions,
  schemes: Readonly<Record<string, SecurityScheme>> = {},
): readonly string[] {
  const all = [...securityRequirements, ...skills.flatMap((one) => one.securityRequirements ?? [])];
  const named = new Set(all.flatMap(({ schemes: needed = {} }) => Object.keys(needed)));
  return [...named].filter((name) => !Object.hasOwn(schemes, name));
}
