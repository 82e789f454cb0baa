import { isObject, type JsonObject, type JsonValue } from '../model/json.js';
import type { Part } from '../model/part.js';
import { untrustedFaults } from './untrusted-schema.js';

/** The meaning of a message as the answer to one question. */
export type AnswerReading =
  | { readonly kind: 'value'; readonly value: JsonValue }
  | { readonly kind: 'declined' }
  | { readonly kind: 'unfit'; readonly fault: string };

/** The rules of a question for its answers. */
export interface AnswerRules {
  /** JSON Schema of the answer. An object with `properties` is a form. */
  readonly schema: JsonObject;
  /** False if the agent needs a value: a refusal is then a value like any other. */
  readonly canDecline: boolean;
}

/** A named value of a field. */
interface Choice {
  readonly value: JsonValue;
  readonly title: string;
}

type Field = readonly [name: string, schema: JsonObject];

const MOST_NAMES = 10;
const YES = /^(?:y|yes|approve|approved)[.!]?$/i;
const NO = /^(?:n|no|refuse|refused|decline|declined)(?:,?\s+(?:thanks|thank you))?[.!]?$/i;
const NO_BECAUSE = /^(?:no|refuse|refused|decline|declined)[,;:!](?=\s)/i;
const TRUE = /^(?:y|yes|true)[.!]?$/i;
const FALSE = /^(?:n|no|false)[.!]?$/i;

/** True for a text that only consents. */
export function isYes(text: string): boolean {
  return YES.test(text);
}

/** True for a text that only refuses. */
export function isNo(text: string): boolean {
  return NO.test(text);
}

/** True for a refusal with a reason: "no, it is too dear". */
export function isReasonedNo(text: string): boolean {
  return NO_BECAUSE.test(text);
}

/** The texts of a message, joined by a newline. */
export function textOf(parts: readonly Part[]): string {
  return parts
    .map((part) => (part.text !== undefined ? part.text : ''))
    .join('\n')
    .trim();
}

/**
 * Reads the content of a message as an answer: its data, or else its text. A text is a refusal, else the typed form as
 * JSON, else the plain value of the only field. A word that the field lists is its value, and no refusal.
 */
export function readAnswer(parts: readonly Part[], rules: AnswerRules): AnswerReading {
  const data = parts.find((part) => part.data !== undefined);
  return data === undefined ? readText(textOf(parts), rules) : firstFit(rules, formsOf(rules.schema, data.data));
}

/** Reads a text as an answer, in the order of `readAnswer`. */
export function readText(text: string, rules: AnswerRules): AnswerReading {
  const { schema, canDecline } = rules;
  const only = onlyField(schema);
  if (canDecline && isNo(text) && !(only !== undefined && listsWord(only, text))) return { kind: 'declined' };
  const typed = parseJson(text);
  if (only === undefined) {
    return isObject(typed) ? firstFit(rules, [typed as JsonObject]) : { kind: 'unfit', fault: formFault(rules) };
  }
  const plain = plainValues(only, text).flatMap((value) => formsOf(schema, value));
  // The message about a form names its fields.
  return firstFit(rules, isObject(typed) ? [typed as JsonObject, ...plain] : [...plain]);
}

/** Describes the fields of a form, for a sender whose answer does not fit. */
export function formFault({ schema, canDecline }: AnswerRules): string {
  const names = (fieldsOf(schema) ?? []).map(([name]) => name);
  const more = names.length > MOST_NAMES ? ' and others' : '';
  const fields = names.length === 0 ? '' : ` of ${names.slice(0, MOST_NAMES).join(', ')}${more}`;
  return `answer with a JSON object${fields}${canDecline ? ', or with no' : ''}`;
}

/** A text as the value of a field. A text that cannot be read as another type stays a text. */
export function fieldValue(field: JsonObject, text: string): JsonValue {
  const reading = firstFit({ schema: field, canDecline: false }, plainValues(field, text));
  return reading.kind === 'value' ? reading.value : text;
}

/** The lines of a question that say how to answer it. */
export function answerLines({ schema, canDecline }: AnswerRules): readonly string[] {
  const fields = fieldsOf(schema);
  const how = (fields ?? []).length > 1 ? 'Answer with a JSON object of these fields' : 'Answer with the value';
  if (!canDecline) return [`${how}.`];
  const only = onlyField(schema);
  const isWord = only !== undefined && listsWord(only, 'no');
  return [`${how}, or with ${isWord ? 'decline' : 'no'} to decline.`];
}

/** The fields of a form, by name; undefined if the answer is a single value. */
export function fieldsOf({ properties }: JsonObject): readonly Field[] | undefined {
  if (!isObject(properties)) return undefined;
  return Object.entries(properties).map(([name, field]) => [name, isObject(field) ? (field as JsonObject) : {}]);
}

/** The choices of a field, with their labels; undefined if it accepts other values, too. */
export function choicesOf(schema: JsonObject): readonly Choice[] | undefined {
  const { enum: values, enumNames: names } = schema;
  if (Array.isArray(values)) {
    return values.map((value: JsonValue, at) => {
      const name: unknown = Array.isArray(names) ? names[at] : undefined;
      return { value, title: typeof name === 'string' ? name : wordOf(value) };
    });
  }
  if (schema.const !== undefined) return [{ value: schema.const, title: wordOf(schema.const) }];
  const one = schema.oneOf ?? schema.anyOf;
  if (!Array.isArray(one) || one.length === 0) return undefined;
  const titled = one.flatMap((entry): Choice[] => {
    if (!isObject(entry) || entry.const === undefined) return [];
    const value = entry.const as JsonValue;
    return [{ value, title: typeof entry.title === 'string' ? entry.title : wordOf(value) }];
  });
  return titled.length === one.length ? titled : undefined;
}

/** The schema of the only field of a form, or of the value itself. */
function onlyField(schema: JsonObject): JsonObject | undefined {
  const fields = fieldsOf(schema);
  if (fields === undefined) return schema;
  const [first, ...more] = fields;
  return more.length === 0 ? first?.[1] : undefined;
}

/** A value in the two forms that the schema may accept: as it is, and as the only field of a form. */
function formsOf(schema: JsonObject, value: JsonValue): readonly JsonValue[] {
  const [first, ...more] = fieldsOf(schema) ?? [];
  if (first === undefined || more.length > 0) return [value];
  return isObject(value) ? [value, { [first[0]]: value }] : [{ [first[0]]: value }];
}

/** The first value that fits, or the fault of the first one. */
function firstFit({ schema }: AnswerRules, values: readonly JsonValue[]): AnswerReading {
  let fault: string | undefined;
  for (const value of values) {
    const faults = untrustedFaults(schema, value) ?? [];
    if (faults.length === 0) return { kind: 'value', value };
    fault ??= faults.join('; ');
  }
  return { kind: 'unfit', fault: fault ?? 'answer with a value' };
}

/** True if a word is a choice of a field, and so no refusal of the question. */
function listsWord(field: JsonObject, text: string): boolean {
  if (typesOf(field).includes('boolean')) return FALSE.test(text);
  return choiceOf(field, text) !== undefined || (isObject(field.items) && listsWord(field.items as JsonObject, text));
}

function choiceOf(field: JsonObject, text: string): Choice | undefined {
  const choices = choicesOf(field) ?? [];
  const word = text.toLowerCase();
  const isNamed = ({ value, title }: Choice) => wordOf(value).toLowerCase() === word || title.toLowerCase() === word;
  return choices.find(({ value }) => wordOf(value) === text) ?? choices.find(isNamed);
}

/** The values that a text may mean for a field, the most specific type first. */
function plainValues(field: JsonObject, text: string): readonly JsonValue[] {
  const choice = choiceOf(field, text);
  if (choice !== undefined) return [choice.value];
  const types = typesOf(field);
  const values: JsonValue[] = [];
  if (types.includes('boolean') && TRUE.test(text)) values.push(true);
  if (types.includes('boolean') && FALSE.test(text)) values.push(false);
  const number = Number(text);
  if (text !== '' && Number.isFinite(number) && types.some((type) => NUMBERS.includes(type))) values.push(number);
  const typed = parseJson(text);
  if (typed !== undefined && types.some((type) => isOfType(typed, type))) values.push(typed);
  if (types.includes('array')) {
    const item = isObject(field.items) ? (field.items as JsonObject) : {};
    values.push(text.split(',').map((one) => plainValues(item, one.trim())[0] ?? one.trim()));
  }
  return [...values, text];
}

const NUMBERS: readonly string[] = ['number', 'integer'];

/** The types that a schema names; empty if it accepts all. */
function typesOf({ type, anyOf, oneOf }: JsonObject): readonly string[] {
  if (typeof type === 'string') return [type];
  if (Array.isArray(type)) return type.filter((one) => typeof one === 'string');
  const one = anyOf ?? oneOf;
  return Array.isArray(one) ? one.flatMap((entry) => (isObject(entry) ? typesOf(entry as JsonObject) : [])) : [];
}

function isOfType(value: JsonValue, type: string): boolean {
  if (value === null) return type === 'null';
  if (Array.isArray(value)) return type === 'array';
  return type === typeof value || (typeof value === 'number' && type === 'integer' && Number.isInteger(value));
}

function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

function wordOf(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
