import { isObject, type JsonObject, type JsonValue } from '../model/json.js';
import { jsonFault } from '../model/json-fault.js';
import { jsonSchemaProblems } from '../model/json-schema-problems.js';
import { faultText, type StandardSchema } from '../model/standard-schema.js';
import { checkJson as checkedBy } from './json-schema.js';

const SCHEMA_LENGTH = 65_536;
const DEPTH = 32;
/** Keywords with plain values, whose check is linear in the value. */
const PLAIN: readonly string[] = [
  'type',
  'enum',
  'const',
  'required',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
];

/**
 * Makes a schema from an untrusted JSON Schema. Models see all of it. The check leaves out patterns, references,
 * combinations and formats, because untrusted ones can block the process. The server that owns the schema checks them.
 * Undefined if the schema is wrong, too large or too deep.
 */
export function untrustedSchema(schema: unknown): StandardSchema | undefined {
  const checked = checkedSchema(schema);
  if (checked === undefined || !isObject(schema) || jsonSchemaProblems(checked).length > 0) return undefined;
  const toJsonSchema = () => schema;
  const validate = (value: unknown) => checkedBy(checked, value);
  return {
    '~standard': { version: 1, vendor: 'parley', validate, jsonSchema: { input: toJsonSchema, output: toJsonSchema } },
  };
}

/** The faults of a value by an untrusted schema, as texts. Undefined if the schema is too large or too deep. */
export function untrustedFaults(schema: JsonObject, value: unknown): readonly string[] | undefined {
  const checked = checkedSchema(schema);
  if (checked === undefined) return undefined;
  return (checkedBy(checked, value).issues ?? []).map(faultText);
}

function checkedSchema(schema: unknown): JsonObject | undefined {
  if (!isObject(schema) || jsonFault(schema) !== undefined) return undefined;
  if (JSON.stringify(schema).length > SCHEMA_LENGTH) return undefined;
  return checkedPart(schema as JsonObject, 0);
}

/** The keywords of a schema that are checked; undefined if it is too deep. */
function checkedPart(schema: JsonObject, depth: number): JsonObject | undefined {
  if (depth > DEPTH) return undefined;
  const members: [string, JsonValue][] = [];
  for (const [name, value] of Object.entries(schema)) {
    if (PLAIN.includes(name)) members.push([name, value]);
    else if (name === 'items') {
      const items = checkedMember(value, depth + 1);
      if (items === undefined) return undefined;
      members.push([name, items]);
    } else if (name === 'properties') {
      if (!isObject(value)) return undefined;
      const properties: [string, JsonValue][] = [];
      for (const [property, one] of Object.entries(value)) {
        const checked = checkedMember(one as JsonValue, depth + 1);
        if (checked === undefined) return undefined;
        properties.push([property, checked]);
      }
      members.push([name, Object.fromEntries(properties)]);
    } else if ((name === 'oneOf' || name === 'anyOf') && schema.enum === undefined) {
      const values = constantsOf(value);
      if (values !== undefined) members.push(['enum', values]);
    } else if (name === 'additionalProperties' && value === false && schema.patternProperties === undefined) {
      members.push([name, value]);
    }
  }
  return Object.fromEntries(members);
}

/** The values of a list of choices. A choice in a form is a constant with a title. */
function constantsOf(choices: JsonValue): readonly JsonValue[] | undefined {
  if (!Array.isArray(choices) || choices.length === 0) return undefined;
  const values = choices.flatMap((one: JsonValue) => (isObject(one) && one.const !== undefined ? [one.const] : []));
  return values.length === choices.length ? (values as readonly JsonValue[]) : undefined;
}

function checkedMember(schema: JsonValue, depth: number): JsonValue | undefined {
  if (typeof schema === 'boolean') return schema;
  return isObject(schema) ? checkedPart(schema as JsonObject, depth) : {};
}
