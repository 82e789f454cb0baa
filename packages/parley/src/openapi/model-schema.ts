import { JSON_SCHEMA } from '../model/json-schema.generated.js';
import type { Components } from './components.js';
import type { Reference, Schema } from './document.js';

/** A type of the model by name. */
type ModelSchemaName = keyof typeof JSON_SCHEMA.$defs;

/** The formats of the model in terms of standard JSON Schema. */
const FORMATS: Readonly<Record<string, Schema>> = {
  base64: { contentEncoding: 'base64' },
  timestamp: { format: 'date-time' },
};

const REFERENCE = '#/$defs/';

/** Adds a type of the model, in the closed form that this server sends, and all types that it refers to. */
export function modelSchema(name: ModelSchemaName, components: Components): Reference {
  return components.add(name, publishSchema(JSON_SCHEMA.$defs[name], components) as Schema);
}

function publishSchema(value: unknown, components: Components): unknown {
  if (Array.isArray(value)) return value.map((item) => publishSchema(item, components));
  if (typeof value !== 'object' || value === null) return value;
  const { $ref, format, ...rest } = value as Readonly<Record<string, unknown>>;
  if (typeof $ref === 'string') return modelSchema($ref.slice(REFERENCE.length) as ModelSchemaName, components);
  const members = Object.entries(rest).map(([name, member]) => [name, publishSchema(member, components)] as const);
  return { ...Object.fromEntries(members), ...(typeof format === 'string' && FORMATS[format]) };
}
