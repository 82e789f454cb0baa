import { OptionsError } from '../errors/options-error.js';
import { meantBy } from '../model/closest-name.js';
import { kindOf } from '../model/kind-of.js';
import type { TObject, TSchema } from './option-types.js';

/** Options, their schema, and the function that takes them. */
interface OptionsCheck<Options> {
  /** The name of the function, for the error. */
  readonly subject: string;
  readonly schema: TObject;
  readonly options: Options;
}

/**
 * Checks the options of an application, and returns them.
 * @throws OptionsError with one problem for each wrong option; for an unknown name, with the closest known one.
 */
export function checkOptions<Options>({ subject, schema, options }: OptionsCheck<Options>): Options {
  const problems = problemsOf(schema, options);
  if (problems.length > 0) throw new OptionsError(subject, problems);
  return options;
}

/** One problem for each unknown member of an entry. `owner` names the entry. */
export function unknownMembers(entry: object, known: readonly string[], owner: string): string[] {
  const names = Object.keys(entry).filter((name) => !known.includes(name));
  return names.map((name) => `${owner}: ${unknownName(name, known, name)}`);
}

/** True if a value follows a schema of options. */
export function isOption(schema: TSchema, value: unknown): boolean {
  return problemsOf(schema, value).length === 0;
}

/** The problems of a value at a place such as `skills[0].name`; the options themselves have the place "". */
function problemsOf(schema: TSchema, value: unknown, place = ''): string[] {
  const fault = value instanceof Promise ? 'is a promise: await it' : formFault(schema, value, place === '');
  const form = fault === undefined ? undefined : objectForm(schema, value);
  if (form !== undefined) return problemsOf(form, value, place);
  if (fault !== undefined) return [at(place, schema.message ?? fault)];
  const inner = [...itemProblems(schema, value, place), ...memberProblems(schema, value, place)];
  if (inner.length > 0) return inner;
  const refusal = schema.refinements?.find((refinement) => !refinement.check(value));
  return refusal === undefined ? [] : [at(place, refusal.message())];
}

function at(place: string, fault: string): string {
  return place === '' ? fault : `${place}: ${fault}`;
}

/** The fault of the value itself, without those of its items and members. */
function formFault(schema: TSchema, value: unknown, isWhole: boolean): string | undefined {
  if (schema.anyOf !== undefined) {
    return schema.anyOf.some((form) => problemsOf(form, value).length === 0) ? undefined : 'has the wrong form';
  }
  if ('const' in schema && value !== schema.const) return `must be ${JSON.stringify(schema.const)}`;
  if (schema.enum !== undefined && !schema.enum.includes(value)) return wordFault(schema.enum, value);
  switch (schema.type) {
    case 'string':
      return textFault(schema, value);
    case 'number':
    case 'integer':
      return numberFault(schema, value);
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'must be true or false';
    case 'array':
      if (!Array.isArray(value)) return 'must be a list';
      return value.length < (schema.minItems ?? 0) ? 'must not be empty' : undefined;
    case 'object':
      if (isObject(value)) return undefined;
      return isWhole ? `takes an object of options, not ${kindOf(value)}` : 'must be an object';
    case undefined:
      return undefined;
  }
}

/** The only object schema among the alternatives. Its problems are more precise than "no alternative fits". */
function objectForm({ anyOf = [] }: TSchema, value: unknown): TSchema | undefined {
  const [form, ...others] = isObject(value) ? anyOf.filter(({ properties }) => properties !== undefined) : [];
  return others.length === 0 ? form : undefined;
}

function wordFault(words: readonly unknown[], value: unknown): string {
  return `must be one of ${words.join(', ')}${meantBy(String(value), words.map(String))}`;
}

function textFault({ minLength = 0, maxLength }: TSchema, value: unknown): string | undefined {
  if (typeof value !== 'string') return 'must be a string';
  if (value.length < minLength) return 'must not be empty';
  return maxLength !== undefined && value.length > maxLength ? `must have at most ${maxLength} characters` : undefined;
}

function numberFault({ type, minimum, exclusiveMinimum, maximum }: TSchema, value: unknown): string | undefined {
  if (typeof value !== 'number' || !Number.isFinite(value)) return 'must be a number';
  if (type === 'integer' && !Number.isSafeInteger(value)) return 'must be a whole number';
  if (minimum !== undefined && value < minimum) return `must be at least ${minimum}`;
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum) return `must be greater than ${exclusiveMinimum}`;
  return maximum !== undefined && value > maximum ? `must be at most ${maximum}` : undefined;
}

function itemProblems({ items }: TSchema, value: unknown, place: string): string[] {
  if (items === undefined || !Array.isArray(value)) return [];
  return value.flatMap((item, index) => problemsOf(items, item, `${place}[${index}]`));
}

function memberProblems(schema: TSchema, value: unknown, place: string): string[] {
  const { properties, additionalProperties: other } = schema;
  if (properties === undefined || !isObject(value)) return [];
  const inside = (name: string) => (place === '' ? name : `${place}.${name}`);
  const known = Object.entries(properties).flatMap(([name, member]) => {
    if (value[name] !== undefined) return problemsOf(member, value[name], inside(name));
    return member.optional ? [] : [at(inside(name), requirement(member))];
  });
  const names = other === undefined ? [] : Object.keys(value).filter((name) => !Object.hasOwn(properties, name));
  const others = names.flatMap((name) =>
    other ? problemsOf(other, value[name], inside(name)) : [unknownName(name, Object.keys(properties), inside(name))],
  );
  return [...known, ...others];
}

/** A missing member is reported by its own message, if it has one. */
function requirement(member: TSchema): string {
  return member.message ?? member.refinements?.[0]?.message() ?? 'is required';
}

function unknownName(name: string, known: readonly string[], place: string): string {
  return `unknown option "${place}"${meantBy(name, known)}`;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
