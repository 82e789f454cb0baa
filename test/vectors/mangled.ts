import { definitionOf, isFree, resolveSchema, type Schema } from './model-schema.js';

/** Answers yes or no, differently each time. */
export type Choice = () => boolean;

/** The same value in other forms that ProtoJSON allows, chosen at random at every place. */
export function mangleValue(type: string, value: unknown, choice: Choice): unknown {
  return ofSchema(definitionOf(type), value, choice);
}

function ofSchema(reference: Schema, value: unknown, choice: Choice): unknown {
  const schema = resolveSchema(reference);
  if (isFree(schema)) return value;
  if (Array.isArray(value)) return value.map((item) => ofSchema(schema.items ?? {}, item, choice));
  if (typeof value === 'object' && value !== null) return ofObject(schema, value, choice);
  if (!choice()) return value;
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string') return value;
  if (schema.format === 'base64') return otherBase64(value, choice);
  if (schema.format === 'timestamp') return otherTimestamp(value);
  return schema.enum?.[0]?.endsWith('_UNSPECIFIED') === true ? schema.enum.indexOf(value) : value;
}

function ofObject(schema: Schema, value: object, choice: Choice): unknown {
  const entries = Object.entries(value).map(([name, member]) => {
    const inner = schema.properties?.[name] ?? (schema.additionalProperties || {});
    const renamed = schema.properties !== undefined && choice() ? snakeCase(name) : name;
    return [renamed, ofSchema(inner, member, choice)] as const;
  });
  if (schema.properties === undefined) return Object.fromEntries(entries);
  const absent = Object.keys(schema.properties).filter((name) => !(name in value) && name !== 'data');
  const nulls = absent.filter(choice).map((name) => [choice() ? snakeCase(name) : name, null] as const);
  const unknown = choice() ? [['kind', 'x'] as const, ['generation', '7'] as const] : [];
  return Object.fromEntries([...unknown, ...entries, ...nulls]);
}

function snakeCase(name: string): string {
  return name.replace(/([A-Z])/g, '_$1').toLowerCase();
}

function otherBase64(value: string, choice: Choice): string {
  const unpadded = choice() ? value.replace(/=+$/, '') : value;
  return unpadded.replaceAll('+', '-').replaceAll('/', '_');
}

function otherTimestamp(value: string): string {
  // Two hours ahead of UTC, unless that leads out of the calendar.
  const shifted = new Date(Date.parse(`${value.slice(0, 19)}Z`) + 7_200_000).toISOString();
  return shifted.startsWith('+') ? value : `${shifted.slice(0, 19)}${value.slice(19, -1)}+02:00`;
}
