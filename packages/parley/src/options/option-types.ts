/**
 * A schema of an option, in keywords of JSON Schema. The functions below have the names and arguments of TypeBox, which
 * describes the model. TypeBox itself would add 3 kB to every server.
 */
export interface TSchema<Value = unknown> {
  readonly type?: 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'object';
  readonly anyOf?: readonly TSchema[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly items?: TSchema;
  readonly properties?: Readonly<Record<string, TSchema>>;
  /** False: no other members. A schema: that of all other members. */
  readonly additionalProperties?: false | TSchema;
  /** The message for a value of the wrong form, instead of one made from the keywords. */
  readonly message?: string;
  /** True if the member may be absent. */
  readonly optional?: true;
  /** Checks of a value of the right form, the innermost first. */
  readonly refinements?: readonly Refinement<Value>[];
}

/** A check that keywords cannot express. */
interface Refinement<Value> {
  check(value: Value): boolean;
  readonly message: () => string;
}

/** The schema of an object. */
export interface TObject extends TSchema<Readonly<Record<string, unknown>>> {
  readonly type: 'object';
}

type Keywords<Name extends keyof TSchema> = Pick<TSchema, Name>;

/** Any value. */
export const Unknown = (): TSchema => ({});
const flag = (): TSchema<boolean> => ({ type: 'boolean' });
/** One value. */
export const Literal = (value: string | number | boolean): TSchema => ({ const: value });

function text(keywords: Keywords<'enum' | 'minLength' | 'maxLength'> = {}): TSchema<string> {
  return { type: 'string', ...keywords };
}

type Bounds = Keywords<'minimum' | 'exclusiveMinimum' | 'maximum'>;

/** A finite number. */
const number = (bounds: Bounds = {}): TSchema<number> => ({ type: 'number', ...bounds });
/** A whole number. */
export const Integer = (bounds: Bounds = {}): TSchema<number> => ({ type: 'integer', ...bounds });

function list<Item>(items: TSchema<Item>, keywords: Keywords<'minItems' | 'message'> = {}): TSchema<readonly Item[]> {
  return { type: 'array', items, ...keywords };
}

/** An object. Members are required unless they are `Optional`. */
function object(
  properties: Readonly<Record<string, TSchema>>,
  keywords: Keywords<'additionalProperties' | 'message'> = {},
): TObject {
  return { type: 'object', properties, ...keywords };
}

/** A value of any of these forms. */
export function Union(anyOf: readonly TSchema[], keywords: Keywords<'message'> = {}): TSchema {
  return { anyOf, ...keywords };
}

/** A member that may be absent. */
export function Optional<Schema extends TSchema>(schema: Schema): Schema & { readonly optional: true } {
  return { ...schema, optional: true };
}

/** A schema with a check of its own, for values of the right form. */
export function Refine<Value>(
  schema: TSchema<Value>,
  check: (value: Value) => boolean,
  message: () => string,
): TSchema<Value> {
  return { ...schema, refinements: [...(schema.refinements ?? []), { check, message }] };
}

export { flag as Boolean, list as Array, number as Number, object as Object, text as String };
