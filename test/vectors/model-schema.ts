import { JSON_SCHEMA } from '../../packages/parley/src/model/json-schema.generated.js';

/** The parts of JSON Schema that the protocol's schemas use. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly not?: { readonly const: string };
  readonly format?: string;
  readonly minLength?: number;
  readonly minItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | false;
  readonly oneOf?: readonly { readonly required: readonly string[] }[];
}

const definitions: Readonly<Record<string, Schema>> = JSON_SCHEMA.$defs;

/** The schema itself, or the one it refers to. */
export function resolveSchema(schema: Schema): Schema {
  return schema.$ref === undefined ? schema : definitionOf(schema.$ref.replace('#/$defs/', ''));
}

export function definitionOf(name: string): Schema {
  const schema = definitions[name];
  if (schema === undefined) throw new Error(`no schema named ${name}`);
  return schema;
}

/** True if the values of a schema are free, so that no code may rename or drop their members. */
export function isFree({ type, properties, additionalProperties, enum: names }: Schema): boolean {
  return (
    (type === undefined && names === undefined) ||
    (type === 'object' && properties === undefined && additionalProperties === undefined)
  );
}
