import { isObject } from './questions.js';

type Members = Readonly<Record<string, unknown>>;

/** A choice of a field. */
export interface Choice {
  readonly value: unknown;
  readonly title: string;
}

/** A field of a form. */
export interface FormField {
  /** The member of the answer. Absent: the field is the whole answer. */
  readonly name: string | undefined;
  readonly title: string;
  readonly hint: string | undefined;
  readonly isRequired: boolean;
  readonly kind: 'text' | 'number' | 'boolean' | 'choice' | 'json';
  readonly choices: readonly Choice[];
  /** The initial text of the field. */
  readonly initial: string;
  readonly schema: Members;
}

const MOST_FIELDS = 100;
const MOST_CHOICES = 500;

/** The fields for a JSON Schema. Values that do not fit a plain field are entered as JSON. */
export function fieldsOf(schema: Members): readonly FormField[] {
  if (!isObject(schema.properties)) return [fieldOf(undefined, schema, true)];
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(schema.properties)
    .slice(0, MOST_FIELDS)
    .map(([name, field]) => fieldOf(name, isObject(field) ? field : {}, required.includes(name)));
}

function fieldOf(name: string | undefined, schema: Members, isRequired: boolean): FormField {
  const choices = choicesOf(schema);
  const kind = kindOf(schema, choices);
  const { title, description, default: initial } = schema;
  return {
    name,
    title: typeof title === 'string' ? title : (name ?? 'Answer'),
    hint: typeof description === 'string' ? description : undefined,
    isRequired,
    kind,
    choices,
    initial: initialOf(initial, kind, choices),
    schema,
  };
}

function initialOf(value: unknown, kind: FormField['kind'], choices: readonly Choice[]): string {
  if (value === undefined) return '';
  if (kind === 'choice') return String(choices.findIndex((one) => one.value === value));
  return typeof value === 'string' && kind !== 'json' ? value : JSON.stringify(value);
}

function kindOf({ type }: Members, choices: readonly Choice[]): FormField['kind'] {
  if (choices.length > 0) return 'choice';
  if (type === 'string') return 'text';
  if (type === 'number' || type === 'integer') return 'number';
  return type === 'boolean' ? 'boolean' : 'json';
}

function choicesOf({ enum: values, enumNames: names, oneOf }: Members): readonly Choice[] {
  if (Array.isArray(values)) {
    const titles = Array.isArray(names) ? names : [];
    return values.slice(0, MOST_CHOICES).map((value, at) => ({ value, title: titleOf(titles[at], value) }));
  }
  if (!Array.isArray(oneOf)) return [];
  const titled = oneOf
    .slice(0, MOST_CHOICES)
    .flatMap((one) => (isObject(one) && one.const !== undefined ? [one] : []))
    .map((one) => ({ value: one.const, title: titleOf(one.title, one.const) }));
  return titled.length === oneOf.length ? titled : [];
}

function titleOf(title: unknown, value: unknown): string {
  if (typeof title === 'string') return title;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/**
 * The answer from the entered texts, by the names of their fields. Optional fields without a text are left out.
 * @throws SyntaxError if a text is no JSON, in a field for JSON.
 */
export function answerOf(fields: readonly FormField[], texts: readonly string[]): unknown {
  const values = fields.map((field, at) => [field, typedValue(field, texts[at] ?? '')] as const);
  const [only] = values;
  if (only?.[0].name === undefined) return only?.[1] ?? {};
  return Object.fromEntries(values.flatMap(([{ name = '' }, value]) => (value === undefined ? [] : [[name, value]])));
}

function typedValue({ kind, choices, isRequired, title }: FormField, text: string): unknown {
  if (kind === 'boolean') return text === 'true';
  if (text === '') return isRequired && kind === 'text' ? '' : undefined;
  if (kind === 'choice') return choices[Number(text)]?.value;
  if (kind === 'number') return Number(text);
  if (kind === 'text') return text;
  try {
    return JSON.parse(text);
  } catch {
    throw new SyntaxError(`${title} takes JSON, such as ["a", "b"]`);
  }
}
