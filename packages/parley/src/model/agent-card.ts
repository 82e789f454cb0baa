import Type from 'typebox';
import { closed, FreeObject, mapOf, NonEmpty } from './schema.js';
import { SecurityRequirementSchema, SecuritySchemeSchema } from './security-scheme.js';

export type {
  AgentCapabilities,
  AgentCard,
  AgentCardSignature,
  AgentExtension,
  AgentInterface,
  AgentProvider,
  AgentSkill,
} from './protocol-types.generated.js';

/** One address of an agent, with its binding and version (Spec §4.4.6). */
export const AgentInterfaceSchema = closed('AgentInterface', {
  url: NonEmpty,
  protocolBinding: NonEmpty,
  tenant: Type.Optional(Type.String()),
  protocolVersion: NonEmpty,
});

/** The publisher of the agent (Spec §4.4.2). */
export const AgentProviderSchema = closed('AgentProvider', { url: Type.String(), organization: Type.String() });

/** An extension that the agent offers (Spec §4.4.4). */
export const AgentExtensionSchema = closed('AgentExtension', {
  uri: Type.Optional(Type.String()),
  description: Type.Optional(Type.String()),
  required: Type.Optional(Type.Boolean()),
  params: Type.Optional(FreeObject),
});

/** Optional capabilities of the agent (Spec §4.4.3). */
export const AgentCapabilitiesSchema = closed('AgentCapabilities', {
  streaming: Type.Optional(Type.Boolean()),
  pushNotifications: Type.Optional(Type.Boolean()),
  extensions: Type.Optional(Type.Array(AgentExtensionSchema)),
  extendedAgentCard: Type.Optional(Type.Boolean()),
});

/** A skill of the agent (Spec §4.4.5). */
export const AgentSkillSchema = closed('AgentSkill', {
  id: NonEmpty,
  name: NonEmpty,
  description: Type.String(),
  tags: Type.Array(Type.String()),
  examples: Type.Optional(Type.Array(Type.String())),
  inputModes: Type.Optional(Type.Array(Type.String())),
  outputModes: Type.Optional(Type.Array(Type.String())),
  securityRequirements: Type.Optional(Type.Array(SecurityRequirementSchema)),
});

/** A signature over the card (Spec §4.4.7). */
export const AgentCardSignatureSchema = closed('AgentCardSignature', {
  protected: NonEmpty,
  signature: NonEmpty,
  header: Type.Optional(FreeObject),
});

/** The description of an agent (Spec §4.4.1). */
export const AgentCardSchema = closed('AgentCard', {
  name: NonEmpty,
  description: Type.String(),
  supportedInterfaces: Type.Array(AgentInterfaceSchema),
  provider: Type.Optional(AgentProviderSchema),
  version: Type.String(),
  documentationUrl: Type.Optional(Type.String()),
  capabilities: AgentCapabilitiesSchema,
  securitySchemes: Type.Optional(mapOf(SecuritySchemeSchema)),
  securityRequirements: Type.Optional(Type.Array(SecurityRequirementSchema)),
  defaultInputModes: Type.Array(Type.String()),
  defaultOutputModes: Type.Array(Type.String()),
  skills: Type.Array(AgentSkillSchema),
  signatures: Type.Optional(Type.Array(AgentCardSignatureSchema)),
  iconUrl: Type.Optional(Type.String()),
});
