import { isJson, itemsOf, memberOf } from '../wire/json.js';
import {
  anyObject,
  flag,
  list,
  map,
  name,
  object,
  oneOf,
  oneText,
  optional,
  problemsIn,
  text,
  texts,
} from './shape.js';

/** Faults of a card. */
export interface CardProblems {
  /** Faults against the schema, such as `name is required`. */
  readonly wrong: readonly string[];
  /** Members that the schema does not have. They are harmless. */
  readonly unknown: readonly string[];
}

const described = { description: optional(text) };
const scopes = map(text);
const refreshUrl = optional(text);
const flows = oneOf({
  authorizationCode: object({
    authorizationUrl: name,
    tokenUrl: name,
    refreshUrl,
    scopes,
    pkceRequired: optional(flag),
  }),
  clientCredentials: object({ tokenUrl: name, refreshUrl, scopes }),
  implicit: object({ authorizationUrl: optional(text), refreshUrl, scopes: optional(scopes) }),
  password: object({ tokenUrl: optional(text), refreshUrl, scopes: optional(scopes) }),
  deviceCode: object({ deviceAuthorizationUrl: name, tokenUrl: name, refreshUrl, scopes }),
});

const securityScheme = oneOf({
  apiKeySecurityScheme: object({ ...described, location: oneText('query', 'header', 'cookie'), name }),
  httpAuthSecurityScheme: object({ ...described, scheme: name, bearerFormat: optional(text) }),
  oauth2SecurityScheme: object({ ...described, flows, oauth2MetadataUrl: optional(text) }),
  openIdConnectSecurityScheme: object({ ...described, openIdConnectUrl: name }),
  mtlsSecurityScheme: object(described),
});
const securityRequirements = optional(list(object({ schemes: optional(map(object({ list: optional(texts) }))) })));

/** The card of 1.0 (Spec §4.4.1). */
const CARD = object({
  name,
  description: text,
  supportedInterfaces: list(
    object({ url: name, protocolBinding: name, tenant: optional(text), protocolVersion: name }),
    { least: 1 },
  ),
  provider: optional(object({ url: text, organization: text })),
  version: text,
  documentationUrl: optional(text),
  capabilities: object({
    streaming: optional(flag),
    pushNotifications: optional(flag),
    extensions: optional(
      list(object({ uri: optional(text), ...described, required: optional(flag), params: optional(anyObject) })),
    ),
    extendedAgentCard: optional(flag),
  }),
  securitySchemes: optional(map(securityScheme)),
  securityRequirements,
  defaultInputModes: texts,
  defaultOutputModes: texts,
  skills: list(
    object({
      id: name,
      name,
      description: text,
      tags: texts,
      examples: optional(texts),
      inputModes: optional(texts),
      outputModes: optional(texts),
      securityRequirements,
    }),
  ),
  signatures: optional(list(object({ protected: name, signature: name, header: optional(anyObject) }))),
  iconUrl: optional(text),
});

/** The card of 0.3 (§5.5 of its specification). Members that 0.2.5 lacks are optional. */
const OLD_CARD = object({
  name: text,
  description: text,
  url: text,
  version: text,
  protocolVersion: optional(text),
  preferredTransport: optional(text),
  documentationUrl: optional(text),
  iconUrl: optional(text),
  supportsAuthenticatedExtendedCard: optional(flag),
  securitySchemes: optional(anyObject),
  defaultInputModes: texts,
  defaultOutputModes: texts,
  provider: optional(object({ organization: text, url: text })),
  capabilities: object({
    streaming: optional(flag),
    pushNotifications: optional(flag),
    stateTransitionHistory: optional(flag),
    extensions: optional(list(object({ uri: text }))),
  }),
  additionalInterfaces: optional(list(object({ url: text, transport: text }))),
  skills: list(
    object({
      id: text,
      name: text,
      description: text,
      tags: texts,
      examples: optional(texts),
      inputModes: optional(texts),
      outputModes: optional(texts),
    }),
  ),
  signatures: optional(list(object({ protected: text, signature: text, header: optional(anyObject) }))),
});

/**
 * Checks a card as it was published, by the schema of 1.0. A card in the form of 0.3 that names no later version is
 * checked by the schema of 0.3.
 */
export function cardProblems(document: unknown): CardProblems {
  const isOld = isOldCard(document) && !/^\s*v?[1-9]/i.test(String(memberOf(document, 'protocolVersion') ?? ''));
  const problems = problemsIn(document, isOld ? OLD_CARD : CARD);
  return {
    wrong: problems.flatMap(({ field, description, isUnknown }) =>
      isUnknown === true ? [] : [`${field || 'the card'} ${description}`],
    ),
    // Many agents add members to the card of 0.3.
    unknown: isOld ? [] : problems.flatMap(({ field, isUnknown }) => (isUnknown === true ? [field] : [])),
  };
}

/** Cards of 0.3 and older have their own `url`. Cards that also list interfaces are cards of 1.0. */
export function isOldCard(document: unknown): boolean {
  if (!isJson(document) || !('url' in document || 'protocolVersion' in document)) return false;
  return itemsOf(memberOf(document, 'supportedInterfaces')).length === 0;
}
