/** Problems of a card. */
export interface CardProblems {
  /** Everything that breaks the schema, such as `name is required`. */
  readonly wrong: readonly string[];
  /** Members that the schema does not have: they do no harm. */
  readonly unknown: readonly string[];
}

const UNKNOWN_MEMBER = 'is not a known member';

/** Loads what checks cards as they were published: by the schema of 1.x, or by that of 0.3 if the card has its form. */
export async function cardChecker(): Promise<(document: unknown) => CardProblems> {
  const { violationsOf } = await import('parley-a2a/schema');
  return (document) => {
    if (isOldCard(document)) return { wrong: problemsIn(document, OLD_CARD, ''), unknown: [] };
    const all = violationsOf('AgentCard', document);
    const [unknown, wrong] = [true, false].map((asked) =>
      all.filter(({ description }) => (description === UNKNOWN_MEMBER) === asked),
    );
    return {
      wrong: wrong?.map(({ field, description }) => `${field || 'the card'} ${description}`) ?? [],
      unknown: unknown?.map(({ field }) => field) ?? [],
    };
  };
}

/** Cards of 0.3 and older have one `url` of their own; those that also list interfaces are cards of 1.x. */
function isOldCard(document: unknown): document is object {
  return (
    isObject(document) && !('supportedInterfaces' in document) && ('url' in document || 'protocolVersion' in document)
  );
}

/** The members of an object: their kind, `?` where they may be absent. */
interface Shape {
  readonly [member: string]: 'text' | 'text?' | 'yes or no?' | 'object?' | 'texts' | 'texts?' | Nested;
}

interface Nested {
  readonly each: boolean;
  readonly optional: boolean;
  readonly shape: Shape;
}

const list = (shape: Shape, optional = false): Nested => ({ each: true, optional, shape });
const object = (shape: Shape, optional = false): Nested => ({ each: false, optional, shape });

/** The card of 0.3 (its specification §5.5), with what 0.2.5 does without left optional. */
const OLD_CARD: Shape = {
  name: 'text',
  description: 'text',
  url: 'text',
  version: 'text',
  protocolVersion: 'text?',
  preferredTransport: 'text?',
  documentationUrl: 'text?',
  iconUrl: 'text?',
  supportsAuthenticatedExtendedCard: 'yes or no?',
  securitySchemes: 'object?',
  defaultInputModes: 'texts',
  defaultOutputModes: 'texts',
  provider: object({ organization: 'text', url: 'text' }, true),
  capabilities: object({
    streaming: 'yes or no?',
    pushNotifications: 'yes or no?',
    stateTransitionHistory: 'yes or no?',
    extensions: list({ uri: 'text' }, true),
  }),
  additionalInterfaces: list({ url: 'text', transport: 'text' }, true),
  skills: list({
    ...({ id: 'text', name: 'text', description: 'text', tags: 'texts' } as const),
    ...({ examples: 'texts?', inputModes: 'texts?', outputModes: 'texts?' } as const),
  }),
  signatures: list({ protected: 'text', signature: 'text', header: 'object?' }, true),
};

function problemsIn(value: object, shape: Shape, path: string): string[] {
  const members = value as Readonly<Record<string, unknown>>;
  return Object.entries(shape).flatMap(([name, kind]) => {
    const [at, member] = [path === '' ? name : `${path}.${name}`, members[name]];
    const isOptional = typeof kind === 'string' ? kind.endsWith('?') : kind.optional;
    if (member === undefined || member === null) return isOptional ? [] : [`${at} is required`];
    if (typeof kind !== 'string') return nestedProblems(member, kind, at);
    return fits(member, kind) ? [] : [`${at} is not ${NAMES[kind]}`];
  });
}

function nestedProblems(value: unknown, { each, shape }: Nested, at: string): string[] {
  if (!each) return isObject(value) ? problemsIn(value, shape, at) : [`${at} is not an object`];
  if (!Array.isArray(value)) return [`${at} is not a list`];
  return value.flatMap((item: unknown, index) =>
    isObject(item) ? problemsIn(item, shape, `${at}[${index}]`) : [`${at}[${index}] is not an object`],
  );
}

const NAMES = {
  text: 'a text',
  'text?': 'a text',
  'yes or no?': 'true or false',
  'object?': 'an object',
  texts: 'a list of texts',
  'texts?': 'a list of texts',
} as const;

function fits(value: unknown, kind: keyof typeof NAMES): boolean {
  if (kind === 'object?') return isObject(value);
  if (kind === 'yes or no?') return typeof value === 'boolean';
  if (kind === 'text' || kind === 'text?') return typeof value === 'string';
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
