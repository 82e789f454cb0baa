import fc from 'fast-check';
import { definitionOf, isFree, resolveSchema, type Schema } from './model-schema.js';

const text = fc.string({ unit: 'binary', maxLength: 8 });
const name = fc.oneof(text, fc.constantFrom('__proto__', 'constructor', 'task_id', 'kind', 'final', 'a b'));

/** Any JSON that survives being written and read again. */
export const arbitraryJson: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(
      text,
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0),
    ),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.tuple(name, tie('value')), { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
  ),
})).value;

const arbitraryObject = fc
  .array(fc.tuple(name, arbitraryJson), { maxLength: 4 })
  .map((entries): unknown => Object.fromEntries(entries));

const arbitraryBase64 = fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes).toString('base64'));

const arbitraryTimestamp = fc
  .tuple(
    fc.date({ min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true }),
    fc.option(fc.stringMatching(/^\d{1,9}$/), { nil: undefined }),
  )
  .map(([date, fraction]) => `${date.toISOString().slice(0, 19)}${fraction === undefined ? '' : `.${fraction}`}Z`);

/** Any value of a type of the model, in the closed form. */
export function arbitraryOf(type: string): fc.Arbitrary<unknown> {
  return ofSchema(definitionOf(type));
}

function ofSchema(reference: Schema): fc.Arbitrary<unknown> {
  const schema = resolveSchema(reference);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum.filter((name) => name !== schema.not?.const));
  if (schema.format === 'base64') return arbitraryBase64;
  if (schema.format === 'timestamp') return arbitraryTimestamp;
  if (isFree(schema)) return schema.type === 'object' ? arbitraryObject : arbitraryJson;
  switch (schema.type) {
    case 'string':
      return schema.minLength === 1 ? text.filter((value) => value !== '') : text;
    case 'integer':
      return fc.integer({ min: schema.minimum ?? 0, max: schema.maximum ?? 0 });
    case 'boolean':
      return fc.boolean();
    case 'array':
      return fc.array(ofSchema(schema.items ?? {}), { minLength: schema.minItems ?? 0, maxLength: 3 });
    default:
      return schema.properties === undefined ? ofMap(schema) : ofObject(schema, schema.properties);
  }
}

function ofMap({ additionalProperties }: Schema): fc.Arbitrary<unknown> {
  const values = ofSchema(additionalProperties || {});
  return fc.array(fc.tuple(name, values), { maxLength: 3 }).map((entries) => Object.fromEntries(entries));
}

function ofObject(schema: Schema, properties: Readonly<Record<string, Schema>>): fc.Arbitrary<unknown> {
  const chosen = (schema.oneOf ?? []).map(({ required: [member = ''] }) => member);
  const members = Object.fromEntries(
    Object.entries(properties)
      .filter(([member]) => !chosen.includes(member))
      .map(([member, value]) => [member, ofSchema(value)]),
  );
  const rest = fc.record(members, { requiredKeys: [...(schema.required ?? [])], noNullPrototype: true });
  if (chosen.length === 0) return rest;
  const one = fc.oneof(
    ...chosen.map((member) => ofSchema(properties[member] ?? {}).map((value) => ({ [member]: value }))),
  );
  return fc.tuple(rest, one).map(([others, content]) => ({ ...others, ...content }));
}
