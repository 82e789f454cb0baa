import type { AgentExtension, AgentProvider, AgentSkill } from '../model/agent-card.js';
import type { SecurityRequirement, SecurityScheme } from '../model/security-scheme.js';

/** A skill in the options of an agent. */
export type AgentSkillOptions = Omit<AgentSkill, 'tags'> & {
  readonly tags?: readonly string[];
};

/** The description of an agent. All other members of its card follow from the server. */
export interface AgentCardOptions {
  /** Default "A2A Agent". */
  readonly name?: string;
  /** Default "A2A Protocol Agent". */
  readonly description?: string;
  /** The version of the agent. Default "1.0.0". */
  readonly version?: string;
  readonly provider?: AgentProvider;
  readonly documentationUrl?: string;
  readonly iconUrl?: string;
  readonly skills?: readonly AgentSkillOptions[];
  /** Media types; default `text/plain`. */
  readonly defaultInputModes?: readonly string[];
  /** Media types; default `text/plain`. */
  readonly defaultOutputModes?: readonly string[];
  /** Extensions of the agent (Spec §4.6.1). */
  readonly extensions?: readonly AgentExtension[];
  /** Security schemes by name. Default: those of the authenticator. */
  readonly securitySchemes?: Readonly<Record<string, SecurityScheme>>;
  /**
   * Requirements of a caller: one of these sets of schemes with their scopes (Spec §4.5). Clients of 0.3 read them as
   * `security`.
   */
  readonly securityRequirements?: readonly SecurityRequirement[];
}

/** Schemes that requirements name and that are not declared. */
export function undeclaredSchemes(
  { securityRequirements = [], skills = [] }: AgentCardOptions,
  schemes: Readonly<Record<string, SecurityScheme>> = {},
): readonly string[] {
  const all = [...securityRequirements, ...skills.flatMap((one) => one.securityRequirements ?? [])];
  const named = new Set(all.flatMap(({ schemes: needed = {} }) => Object.keys(needed)));
  return [...named].filter((name) => !Object.hasOwn(schemes, name));
}
