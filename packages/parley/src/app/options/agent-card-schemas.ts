import type { AgentCardOptions } from '../../agent-card/agent-card-options.js';
import {
  flag,
  mapOf,
  nonEmpty,
  type OptionSchemas,
  optionObject,
  pattern,
  text,
  texts,
  webUrl,
} from '../../options/option-schemas.js';
import * as Type from '../../options/option-types.js';

const url = webUrl('must be an http or https URL');
const mediaType = pattern(/^[^\s/;]+\/[^\s/;]+(;.*)?$/, 'must be a media type such as text/plain');
const modes = Type.Array(mediaType, { minItems: 1 });
const freeObject = Type.Object({});

const requirements = Type.Array(
  optionObject({ schemes: Type.Optional(mapOf(optionObject({ list: Type.Optional(texts) }))) }),
);

const skill = optionObject({
  id: nonEmpty,
  name: nonEmpty,
  description: text,
  tags: Type.Optional(texts),
  examples: Type.Optional(texts),
  inputModes: Type.Optional(modes),
  outputModes: Type.Optional(modes),
  securityRequirements: Type.Optional(requirements),
});

const SCHEME_KINDS = [
  'apiKeySecurityScheme',
  'httpAuthSecurityScheme',
  'oauth2SecurityScheme',
  'openIdConnectSecurityScheme',
  'mtlsSecurityScheme',
] as const;
const scheme = Type.Refine(
  optionObject(Object.fromEntries(SCHEME_KINDS.map((kind) => [kind, Type.Optional(freeObject)]))),
  (value) => Object.keys(value).length === 1,
  () => `needs exactly one of ${SCHEME_KINDS.join(', ')}`,
);

/** The schemas of AgentCardOptions. */
export const agentCardSchemas: OptionSchemas<AgentCardOptions> = {
  name: Type.Optional(nonEmpty),
  description: Type.Optional(text),
  version: Type.Optional(nonEmpty),
  provider: Type.Optional(optionObject({ organization: nonEmpty, url })),
  documentationUrl: Type.Optional(url),
  iconUrl: Type.Optional(url),
  skills: Type.Optional(
    Type.Refine(
      Type.Array(skill),
      (skills) => new Set(skills.map(({ id }) => id)).size === skills.length,
      () => 'must have different ids',
    ),
  ),
  defaultInputModes: Type.Optional(modes),
  defaultOutputModes: Type.Optional(modes),
  extensions: Type.Optional(
    Type.Array(
      optionObject({
        uri: pattern(/^[^\s,]+$/, 'must be a URI without commas'),
        description: Type.Optional(text),
        required: Type.Optional(flag),
        params: Type.Optional(freeObject),
      }),
    ),
  ),
  securitySchemes: Type.Optional(mapOf(scheme)),
  securityRequirements: Type.Optional(requirements),
};
