import Type from 'typebox';
import { FreeObject, mapOf, modelObject, NonEmpty } from './schema.js';
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
export const AgentInterfaceSchema = modelObject('AgentInterface', {
  url: NonEmpty,
  /** `JSONRPC`, `HTTP+JSON`, `GRPC`, or the URI of a binding of another party. */
  protocolBinding: NonEmpty,
  /** The tenant that calls over this interface name. */
  tenant: Type.Optional(Type.String()),
  /** Major and minor version, such as `1.0`. */
  protocolVersion: NonEmpty,
});

/** The publisher of the agent (Spec §4.4.2). */
export const AgentProviderSchema = modelObject('AgentProvider', { url: Type.String(), organization: Type.String() });

/** An extension that the agent offers (Spec §4.4.4). */
export const AgentExtensionSchema = modelObject('AgentExtension', {
  uri: Type.Optional(Type.String()),
  description: Type.Optional(Type.String()),
  required: Type.Optional(Type.Boolean()),
  params: Type.Optional(FreeObject),
});

/** Optional capabilities of the agent (Spec §4.4.3). */
export const AgentCapabilitiesSchema = modelObject('AgentCapabilities', {
  /** True if the agent has SendStreamingMessage and SubscribeToTask. */
  streaming: Type.Optional(Type.Boolean()),
  /** True if the agent calls webhooks. */
  pushNotifications: Type.Optional(Type.Boolean()),
  extensions: Type.Optional(Type.Array(AgentExtensionSchema)),
  /** True if authenticated callers can get a card with more. */
  extendedAgentCard: Type.Optional(Type.Boolean()),
});

/** A skill of the agent (Spec §4.4.5). */
export const AgentSkillSchema = modelObject('AgentSkill', {
  /** Unique within the card. */
  id: NonEmpty,
  name: NonEmpty,
  description: Type.String(),
  /** Words to find the skill by. */
  tags: Type.Array(Type.String()),
  /** Messages that the skill understands. */
  examples: Type.Optional(Type.Array(Type.String())),
  /** Media types of the input, if they differ from those of the agent. */
  inputModes: Type.Optional(Type.Array(Type.String())),
  /** Media types of the output, if they differ from those of the agent. */
  outputModes: Type.Optional(Type.Array(Type.String())),
  /** A choice of what the skill needs, beside the requirements of the agent. */
  securityRequirements: Type.Optional(Type.Array(SecurityRequirementSchema)),
});

/** A signature over the card (Spec §4.4.7). */
export const AgentCardSignatureSchema = modelObject('AgentCardSignature', {
  protected: NonEmpty,
  signature: NonEmpty,
  header: Type.Optional(FreeObject),
});

/** The description of an agent (Spec §4.4.1). */
export const AgentCardSchema = modelObject('AgentCard', {
  name: NonEmpty,
  description: Type.String(),
  /** The addresses of the agent, the preferred one first. */
  supportedInterfaces: Type.Array(AgentInterfaceSchema),
  provider: Type.Optional(AgentProviderSchema),
  /** The version of the agent, not of the protocol. */
  version: Type.String(),
  documentationUrl: Type.Optional(Type.String()),
  capabilities: AgentCapabilitiesSchema,
  /** The ways to authenticate, by name. */
  securitySchemes: Type.Optional(mapOf(SecuritySchemeSchema)),
  /** A choice: each requirement by itself is enough. */
  securityRequirements: Type.Optional(Type.Array(SecurityRequirementSchema)),
  /** Media types that the agent takes. */
  defaultInputModes: Type.Array(Type.String()),
  /** Media types that the agent answers with. */
  defaultOutputModes: Type.Array(Type.String()),
  skills: Type.Array(AgentSkillSchema),
  signatures: Type.Optional(Type.Array(AgentCardSignatureSchema)),
  iconUrl: Type.Optional(Type.String()),
});
