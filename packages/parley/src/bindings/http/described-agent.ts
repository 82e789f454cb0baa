import type { WireCodec } from '../../codec/wire-codec.js';
import type { SchemaLimits, WireSchemas } from '../../codec/wire-schemas.js';
import type { Components } from '../../openapi/components.js';
import type { DescribedAnswer, DescribedOperation, Header, Parameter, Schema } from '../../openapi/document.js';
import { describedScheme } from '../../openapi/security-scheme.js';
import { answersCard, OPERATIONS, type OperationName } from '../../operations/operations.js';
import { isLegacy } from '../../operations/versions.js';
import type { BindingContext } from './binding-context.js';
import { EVENT_STREAM_TYPE } from './media-type.js';
import { laterCodecs, type Offer } from './offer.js';

/** A version, as a description needs it. */
export interface WireLanguage {
  readonly codec: WireCodec;
  readonly schemas: WireSchemas;
}

/** An agent at one of its addresses, for a description. */
export interface DescribedAgent {
  readonly endpoint: BindingContext;
  readonly languages: readonly WireLanguage[];
  /** Path of the interface below the server. */
  readonly path: string;
  /** The tag of its operations. */
  readonly tag: string;
  /** The prefix of its operation ids, unique among the agents. */
  readonly name: string;
  readonly components: Components;
}

/** The limits of an agent, for schemas. */
export function schemaLimits({ card, limits }: BindingContext): SchemaLimits {
  const { idLength, parts } = limits;
  return { ofIds: { maxLength: idLength }, parts, pushNotifications: card.capabilities.pushNotifications === true };
}

/** True if an agent offers an operation (Spec §3.3.4). */
export function isOffered(operation: OperationName, { card }: BindingContext): boolean {
  const { capability } = OPERATIONS[operation];
  return capability === undefined || card.capabilities[capability] === true;
}

/** The id of an operation in the document. */
export function operationId(...words: readonly string[]): string {
  return words
    .flatMap((word) => word.split(/[^A-Za-z0-9]+/))
    .filter((word) => word !== '')
    .join('_');
}

/**
 * The version header for these versions. `required`: a call without it is refused. `strict`: no other version answers.
 */
export function versionParameter(
  versions: readonly string[],
  { required, strict }: { readonly required: boolean; readonly strict: boolean },
): Parameter {
  const names = versions.map((version) => version.replaceAll('.', '\\.')).join('|');
  const pattern = `^(?:${names})(?:\\.[0-9A-Za-z_.+-]*)?$`;
  const unnamed = strict
    ? 'A call without it is one of the newest version before 1.0.'
    : 'It may be left out if the version follows from the call.';
  const absent = required ? 'A call without it is refused.' : unnamed;
  return {
    name: 'A2A-Version',
    in: 'header',
    required,
    description: `The version of the protocol, ${versions.join(' or ')}. ${absent} It may stand in the query instead.`,
    schema: { type: 'string', anyOf: [{ enum: versions }, { pattern }, ...(required ? [] : [{ const: '' }])] },
  };
}

/** The offered versions that a call may name if this codec is to answer it. */
export function versionsFor(codec: WireCodec, offer: Offer): readonly string[] {
  return [...offer.codecs.values()]
    .filter((asked) => asked === codec || laterCodecs(offer, asked).includes(codec))
    .map(({ version }) => version);
}

/** The header that activates extensions, if the agent has any. */
export function extensionParameters({ card }: BindingContext): readonly Parameter[] {
  const uris = (card.capabilities.extensions ?? []).flatMap(({ uri }) => uri ?? []);
  if (uris.length === 0) return [];
  const description = `Extensions to activate, separated by commas. Offered: ${uris.join(', ')}. Others are ignored.`;
  return [{ name: 'A2A-Extensions', in: 'header', description, schema: { type: 'string', examples: [uris[0]] } }];
}

/** The header that resumes a stream. */
export const LAST_EVENT_ID: Parameter = {
  name: 'Last-Event-ID',
  in: 'header',
  description:
    'The id of the last received event: the stream resumes after it. Otherwise it begins with a snapshot of the task.',
  schema: { type: 'string', pattern: '^[^,]*$', examples: ['3'] },
};

/** The header that names the activated extensions. */
export function extensionHeaders(agent: BindingContext, version: string): Readonly<Record<string, Header>> {
  if (extensionParameters(agent).length === 0) return {};
  const description = 'The extensions that were activated, separated by commas.';
  return { [isLegacy(version) ? 'X-A2A-Extensions' : 'A2A-Extensions']: { description, schema: { type: 'string' } } };
}

/** One event of a stream with data of a schema. */
function eventSchema(data: Schema): Schema {
  return {
    type: 'object',
    description: 'One event. Comments between events keep the stream alive.',
    required: ['data'],
    properties: {
      id: { type: 'string', pattern: '^[0-9]+$', description: 'Its number in the task, for Last-Event-ID.' },
      data: { type: 'string', contentMediaType: 'application/json', contentSchema: data },
    },
  };
}

/** The content of an answer that streams such events. */
export function streamContent(data: Schema): NonNullable<DescribedAnswer['content']> {
  return { [EVENT_STREAM_TYPE]: { schema: eventSchema(data) } };
}

/**
 * The security of an operation, from the requirements of the card. Its schemes are added to the components. If the
 * authenticator is optional, calls without credentials are allowed, too, except for the extended card.
 */
export function securityOf(agent: DescribedAgent, operation?: OperationName): Pick<DescribedOperation, 'security'> {
  const { components, endpoint, name: agentName } = agent;
  const { securitySchemes = {}, securityRequirements } = endpoint.card;
  const names = new Map(
    Object.entries(securitySchemes).map(([name, scheme]) => [
      name,
      components.addSecurityScheme(operationId(agentName, name), describedScheme(scheme)),
    ]),
  );
  const { challenges, takesAnonymous } = endpoint;
  if (challenges === undefined || names.size === 0) return {};
  const requirements = securityRequirements ?? [...names.keys()].map((name) => ({ schemes: { [name]: { list: [] } } }));
  const known = requirements
    .map(({ schemes = {} }) =>
      Object.fromEntries(Object.entries(schemes).map(([name, { list = [] }]) => [names.get(name) ?? name, list])),
    )
    .filter((one) => Object.keys(one).length > 0);
  const isOpen = takesAnonymous === true && !(operation !== undefined && answersCard(operation));
  return { security: isOpen ? [{}, ...known] : known };
}
