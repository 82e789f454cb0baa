import { isJson, type Json } from '../wire/json.js';

/** A fault of a value: the path of a field, and the fault in words. */
export interface Problem {
  readonly field: string;
  readonly description: string;
  /** True if the fault is a member that the schema does not have. */
  readonly isUnknown?: boolean;
}

/** Finds the faults of a value; `path` is the field that holds it. */
export type Shape = (value: unknown, path: string) => readonly Problem[];

/** A member that may be absent. */
interface OptionalShape {
  readonly optional: Shape;
}

/** The faults of a document. */
export function problemsIn(value: unknown, shape: Shape): readonly Problem[] {
  return shape(value, '');
}

function wrong(field: string, description: string): readonly Problem[] {
  return [{ field, description }];
}

/** Any text. */
export const text: Shape = (value, path) => (typeof value === 'string' ? [] : wrong(path, 'is not a text'));

/** A text that is not empty. */
export const name: Shape = (value, path) => (value === '' ? wrong(path, 'is empty') : text(value, path));

/** True or false. */
export const flag: Shape = (value, path) => (typeof value === 'boolean' ? [] : wrong(path, 'is not true or false'));

/** A whole number. */
export const integer: Shape = (value, path) => (Number.isInteger(value) ? [] : wrong(path, 'is not a whole number'));

/** Any value. */
export const anything: Shape = () => [];

/** An object with any members. */
export const anyObject: Shape = (value, path) => (isJson(value) ? [] : wrong(path, 'is not an object'));

/** Base64, in the standard or the URL-safe alphabet. */
export const base64: Shape = (value, path) =>
  typeof value === 'string' && /^[\w+/-]*={0,2}$/.test(value) ? [] : wrong(path, 'is not base64');

/** A time (RFC 3339). */
export const timestamp: Shape = (value, path) =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/.test(value)
    ? []
    : wrong(path, 'is not a time of RFC 3339');

/** One of some texts. */
export const oneText =
  (...texts: readonly string[]): Shape =>
  (value, path) =>
    texts.some((one) => one === value) ? [] : wrong(path, `is not one of ${texts.join(', ')}`);

/** A list. */
export function list(item: Shape, { least = 0 } = {}): Shape {
  return (value, path) => {
    if (!Array.isArray(value)) return wrong(path, item === text ? 'is not a list of texts' : 'is not a list');
    if (value.length < least) return wrong(path, 'is empty');
    return value.flatMap((one: unknown, index) => item(one, `${path}[${index}]`));
  };
}

/** A list of texts. */
export const texts: Shape = list(text);

/** An object with any names for values of one shape. */
export const map =
  (item: Shape): Shape =>
  (value, path) =>
    isJson(value)
      ? Object.entries(value).flatMap(([key, one]) => item(one, `${path}.${key}`))
      : wrong(path, 'is not an object');

/** Marks a member that may be absent. */
export const optional = (shape: Shape): OptionalShape => ({ optional: shape });

/** An object with these members. */
export function object(members: Readonly<Record<string, Shape | OptionalShape>>): Shape {
  return (value, path) => {
    if (!isJson(value)) return wrong(path || 'the document', 'is not an object');
    const known = Object.entries(members).flatMap(([key, shape]) => memberProblems(value, at(path, key), [key, shape]));
    const unknown = Object.keys(value).filter((key) => !Object.hasOwn(members, key));
    return [...known, ...unknown.map((key) => unknownMember(at(path, key)))];
  };
}

/** An object with exactly one of these members, and any of the common ones. */
export function oneOf(
  choices: Readonly<Record<string, Shape>>,
  common: Readonly<Record<string, Shape | OptionalShape>> = {},
): Shape {
  const choiceNames = Object.keys(choices);
  return (value, path) => {
    if (!isJson(value)) return wrong(path || 'the document', 'is not an object');
    const present = choiceNames.filter(
      (key) => isThere(value[key]) || (value[key] === null && choices[key] === anything),
    );
    if (present.length !== 1) return wrong(path || 'the document', `needs exactly one of ${choiceNames.join(', ')}`);
    const [chosen = ''] = present;
    return object({ ...common, [chosen]: choices[chosen] ?? anything })(value, path);
  };
}

function memberProblems(
  value: Json,
  path: string,
  [key, shape]: readonly [string, Shape | OptionalShape],
): readonly Problem[] {
  const member = value[key];
  const isOptional = typeof shape !== 'function';
  if (!isThere(member) && !(key in value && shape === anything)) return isOptional ? [] : wrong(path, 'is required');
  return isOptional ? shape.optional(member, path) : shape(member, path);
}

function unknownMember(field: string): Problem {
  return { field, description: 'is not a known member', isUnknown: true };
}

/** ProtoJSON reads null as an absent member. */
function isThere(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function at(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}
