import Schema from 'typebox/schema';
import { OptionsError } from '../errors/options-error.js';
import type { JsonObject } from '../model/json.js';
import { jsonSchemaProblems } from '../model/json-schema-problems.js';
import type { StandardIssue, StandardResult, StandardSchema } from '../model/standard-schema.js';

const MOST_FAULTS = 10;

/** Options of `jsonSchema`. */
export interface JsonSchemaOptions<Value> {
  /** Replaces the validation by the schema. It returns the value, or throws an error with the fault as its message. */
  readonly check?: (value: unknown) => Value;
}

/**
 * Makes a schema for `defineTool` from a plain JSON Schema (draft 2020-12). `Value` is the type of the described
 * values, which the compiler cannot verify. The schema must come from the author: untrusted patterns can block the
 * process.
 * @throws OptionsError if the schema is wrong itself, with the place of each fault.
 */
export function jsonSchema<Value = unknown>(
  schema: JsonObject,
  { check }: JsonSchemaOptions<Value> = {},
): StandardSchema<Value, Value> {
  const problems = jsonSchemaProblems(schema);
  if (problems.length > 0) throw new OptionsError('jsonSchema', problems);
  return {
    '~standard': {
      version: 1,
      vendor: 'parley',
      validate: check === undefined ? (value) => checkJson(schema, value) : (value) => checkedBy(check, value),
      jsonSchema: { input: () => schema, output: () => schema },
    },
  };
}

/** Checks a value by a JSON Schema. */
export function checkJson<Value>(schema: JsonObject, value: unknown): StandardResult<Value> {
  const [isValid, errors] = Schema.Errors(schema, value);
  if (isValid) return { value: value as Value };
  return { issues: errors.slice(0, MOST_FAULTS).map(({ instancePath, message }) => issueAt(instancePath, message)) };
}

function checkedBy<Value>(check: (value: unknown) => Value, value: unknown) {
  try {
    return { value: check(value) };
  } catch (error) {
    return { issues: [{ message: error instanceof Error ? error.message : 'is not valid' }] };
  }
}

function issueAt(instancePath: string, message: string): StandardIssue {
  const path = instancePath.split('/').slice(1);
  return { message, path: path.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~')) };
}
