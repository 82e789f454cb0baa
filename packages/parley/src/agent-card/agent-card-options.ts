import * as z from 'zod';
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

const text = z.string().min(1);
const webUrl = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' });
const mediaType = z.string().regex(/^[^\s/;]+\/[^\s/;]+(;.*)?$/, 'must be a media type such as text/plain');
const modes = z.array(mediaType).min(1);

const requirements = z.array(
  z.strictObject({
    schemes: z.record(text, z.strictObject({ list: z.array(z.string()).optional() })).optional(),
  }),
);

const skill = z.strictObject({
  id: text,
  name: text,
  description: z.string(),
  tags: z.array(z.string()).optional(),
  examples: z.array(z.string()).optional(),
  inputModes: modes.optional(),
  outputModes: modes.optional(),
  securityRequirements: requirements.optional(),
});

const SCHEME_KINDS = [
  'apiKeySecurityScheme',
  'httpAuthSecurityScheme',
  'oauth2SecurityScheme',
  'openIdConnectSecurityScheme',
  'mtlsSecurityScheme',
] as const;
const scheme = z
  .strictObject(Object.fromEntries(SCHEME_KINDS.map((kind) => [kind, z.looseObject({}).optional()])))
  .refine((value) => Object.keys(value).length === 1, `needs exactly one of ${SCHEME_KINDS.join(', ')}`);

/** Checks the members of AgentCardOptions, for use in the schema of a whole set of options. */
export const agentCardOptionsShape = {
  name: text.optional(),
  description: z.string().optional(),
  version: text.optional(),
  provider: z.strictObject({ organization: text, url: webUrl }).optional(),
  documentationUrl: webUrl.optional(),
  iconUrl: webUrl.optional(),
  skills: z
    .array(skill)
    .refine((skills) => new Set(skills.map(({ id }) => id)).size === skills.length, 'must have different ids')
    .optional(),
  defaultInputModes: modes.optional(),
  defaultOutputModes: modes.optional(),
  extensions: z
    .array(
      z.strictObject({
        uri: z.string().regex(/^[^\s,]+$/, 'must be a URI without commas'),
        description: z.string().optional(),
        required: z.boolean().optional(),
        params: z.looseObject({}).optional(),
      }),
    )
    .optional(),
  securitySchemes: z.record(text, scheme).optional(),
  securityRequirements: requirements.optional(),
};

/** The schemes that requirements name and nobody declares. */
export function undeclaredSchemes(
  { securityRequirements = [], skills = [] }: AgentCardOptions,
  schemes: Readonly<Record<string, SecurityScheme>> = {},
): readonly string[] {
  const all = [...securityRequirements, ...skills.flatMap((one) => one.securityRequirements ?? [])];
  const named = new Set(all.flatMap(({ schemes: needed = {} }) => Object.keys(needed)));
  return [...named].filter((name) => !Object.hasOwn(schemes, name));
}
