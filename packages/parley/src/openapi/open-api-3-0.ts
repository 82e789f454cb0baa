import type { OpenApiDocument, Schema } from './document.js';

/**
 * Converts a document of OpenAPI 3.1 to 3.0, which has its own dialect of JSON Schema. Leaves out what 3.0 cannot
 * express.
 */
export function toOpenApi30(document: OpenApiDocument): OpenApiDocument {
  const { securitySchemes = {} } = document.components;
  const known = Object.entries(securitySchemes).map(([name, scheme]) => [name, scheme30(scheme)] as const);
  const types = new Map(Object.entries(securitySchemes).map(([name, { type }]) => [name, type]));
  const converted = withSchemas(
    { ...document, components: { schemas: document.components.schemas } },
    types,
  ) as OpenApiDocument;
  const { components } = converted;
  return {
    ...converted,
    openapi: '3.0.4',
    components: { ...components, ...(known.length > 0 && { securitySchemes: Object.fromEntries(known) }) },
  };
}

/**
 * 3.0 has no mutual TLS. Without its scheme an operation would look public, so an HTTP scheme named `certificate`
 * replaces it.
 */
function scheme30(scheme: Schema): Schema {
  if (scheme.type !== 'mutualTLS') return scheme;
  const { type: _, description = 'A client certificate (mutual TLS).', ...more } = scheme;
  return { type: 'http', scheme: 'certificate', description, ...more };
}

/**
 * Converts the schemas inside a value, and leaves out requirements of schemes that are missing. `schemes` are the types
 * of schemes by name.
 */
function withSchemas(value: unknown, schemes: ReadonlyMap<string, unknown>): unknown {
  if (Array.isArray(value)) return value.map((item) => withSchemas(item, schemes));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, member]) => {
    if (name === 'schema') return [name, toSchema30(member as Schema)];
    if (name === 'schemas') return [name, eachSchema(member as Readonly<Record<string, Schema>>)];
    if (name === 'security') {
      const known = (member as object[]).filter((one) => Object.keys(one).every((key) => schemes.has(key)));
      return [name, known.map((one) => requirement30(one, schemes))];
    }
    return [name, withSchemas(member, schemes)];
  });
  return Object.fromEntries(entries);
}

/** In 3.0 only schemes with scopes of their own have scopes. */
function requirement30(requirement: object, schemes: ReadonlyMap<string, unknown>): object {
  const hasScopes = (name: string) => ['oauth2', 'openIdConnect'].includes(String(schemes.get(name)));
  return Object.fromEntries(Object.entries(requirement).map(([name, list]) => [name, hasScopes(name) ? list : []]));
}

const BY_TYPE: Readonly<Record<string, readonly string[]>> = {
  string: ['minLength', 'maxLength', 'pattern', 'format', 'contentEncoding', 'contentMediaType', 'contentSchema'],
  number: ['minimum', 'maximum', 'multipleOf'],
  integer: ['minimum', 'maximum', 'multipleOf'],
  boolean: [],
  array: ['items', 'minItems', 'maxItems', 'uniqueItems'],
  object: ['properties', 'required', 'additionalProperties', 'minProperties', 'maxProperties'],
};
const TYPED = new Set(Object.values(BY_TYPE).flat());
const NULL: Schema = { type: 'string', nullable: true, enum: [null] };

/** A schema of 2020-12 in the dialect of OpenAPI 3.0. */
function toSchema30(schema: Schema): Schema {
  const { $ref, type, ...rest } = schema;
  if ($ref !== undefined) return Object.keys(rest).length === 0 ? { $ref } : { ...toSchema30(rest), allOf: [{ $ref }] };
  if (type === 'null') return { ...plain(rest), ...NULL };
  if (!Array.isArray(type)) return plain(schema);
  const types = (type as readonly string[]).filter((one) => one !== 'null');
  const isNullable = types.length < type.length;
  if (types.length === 1) return { ...plain({ ...rest, type: types[0] }), ...(isNullable && { nullable: true }) };
  const common = Object.entries(rest).filter(([name]) => !TYPED.has(name) && name !== 'enum');
  const anyOf = types.map((one) => ({ ...plain(ofType(rest, one)), ...(isNullable && { nullable: true }) }));
  return { ...plain(Object.fromEntries(common)), anyOf };
}

/** The part of a schema of several types that applies to one of them. */
function ofType(schema: Schema, type: string): Schema {
  const own = Object.entries(schema).filter(([name]) => BY_TYPE[type]?.includes(name));
  const { enum: values } = schema;
  const isOwn = (value: unknown) =>
    (type === 'string' ? typeof value === 'string' : typeof value !== 'string') || value === null;
  return { type, ...Object.fromEntries(own), ...(Array.isArray(values) && { enum: values.filter(isOwn) }) };
}

/** Converts the keywords of a schema of one type. */
function plain(schema: Schema): Schema {
  const converted: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    switch (keyword) {
      case 'const':
        converted.enum = [value];
        break;
      case 'examples':
        converted.example = (value as readonly unknown[])[0];
        break;
      case 'contentEncoding':
        converted.format = 'byte';
        break;
      case 'contentMediaType':
        break;
      case 'required':
        // 3.0 forbids an empty list.
        if ((value as readonly string[]).length > 0) converted.required = value;
        break;
      case 'contentSchema':
        // Tools that know the keyword from later dialects find it; others ignore it.
        converted['x-content-schema'] = toSchema30(value as Schema);
        break;
      case 'properties':
        converted.properties = eachSchema(value as Readonly<Record<string, Schema>>);
        break;
      case 'items':
      case 'not':
        converted[keyword] = toSchema30(value as Schema);
        break;
      case 'additionalProperties':
        converted[keyword] = typeof value === 'boolean' ? value : toSchema30(value as Schema);
        break;
      case 'allOf':
      case 'anyOf':
      case 'oneOf':
        converted[keyword] = (value as readonly Schema[]).map(toSchema30);
        break;
      default:
        converted[keyword] = value;
    }
  }
  return converted.enum !== undefined && converted.type === undefined
    ? { ...converted, type: typeOf(converted.enum) }
    : converted;
}

function typeOf(values: unknown): string {
  const [first] = values as readonly unknown[];
  return typeof first === 'number' ? 'number' : typeof first;
}

function eachSchema(schemas: Readonly<Record<string, Schema>>): Readonly<Record<string, Schema>> {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, toSchema30(schema)]));
}
