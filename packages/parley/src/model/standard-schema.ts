import type { JsonObject } from './json.js';

/** A schema of any library that follows Standard Schema, such as Zod, Valibot or ArkType. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': StandardSchemaMembers<Input, Output>;
}

/** The members that every such schema has. `types` exists for the compiler only. */
export interface StandardSchemaMembers<Input, Output> {
  readonly version: 1;
  readonly vendor: string;
  readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
  readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  /** JSON Schemas of the values before and after validation. A library may lack them. */
  readonly jsonSchema?: StandardJsonSchema | undefined;
}

/** Both functions throw if the library cannot describe the schema. */
export interface StandardJsonSchema {
  readonly input: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown>;
  readonly output: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown>;
}

/** The validated value, or the faults of the given one. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** One fault, and the path of the member that has it. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The type of the values that a schema takes. */
export type InputOf<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>['input'];

/** The type of the values that a schema makes of them. */
export type OutputOf<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>['output'];

/** A validated value, or one text for each fault. */
export type Validated<Output> = { readonly value: Output } | { readonly faults: readonly string[] };

const MOST_FAULTS = 10;

/** Validates a value. Each fault names its member, such as `items.0.price: must be a number`. At most 10 are named. */
export async function validateValue<Output>(
  schema: StandardSchema<unknown, Output>,
  value: unknown,
): Promise<Validated<Output>> {
  return validatedAtOnce(schema, value);
}

/**
 * As `validated`, but not async if the schema is synchronous: it returns the result itself, and an error of the schema
 * is thrown at once.
 */
export function validatedAtOnce<Output>(
  schema: StandardSchema<unknown, Output>,
  value: unknown,
): Validated<Output> | Promise<Validated<Output>> {
  const result = schema['~standard'].validate(value);
  return 'then' in result ? result.then(validatedResult) : validatedResult(result);
}

function validatedResult<Output>(result: StandardResult<Output>): Validated<Output> {
  if (result.issues === undefined) return { value: result.value };
  return { faults: result.issues.slice(0, MOST_FAULTS).map(faultText) };
}

/**
 * The JSON Schema (draft 2020-12) of the values that a schema takes or makes. Undefined if its library gives none, or
 * cannot describe this schema.
 */
export function jsonSchemaOf(schema: StandardSchema, side: 'input' | 'output' = 'input'): JsonObject | undefined {
  const { jsonSchema } = schema['~standard'];
  if (jsonSchema === undefined) return undefined;
  try {
    return jsonSchema[side]({ target: 'draft-2020-12' }) as JsonObject;
  } catch {
    return undefined;
  }
}

/** The text of a fault, with the path of its member. */
export function faultText({ message, path = [] }: StandardIssue): string {
  const field = path.map((step) => String(typeof step === 'object' ? step.key : step)).join('.');
  return field === '' ? message : `${field}: ${message}`;
}
