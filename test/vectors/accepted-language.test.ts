import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeType } from '../../packages/parley/src/codec/v1_0/decode-type.js';
import { v1_0Schemas } from '../../packages/parley/src/codec/v1_0/wire-schemas.js';
import { InvalidParamsError } from '../../packages/parley/src/errors/standard-errors.js';
import { Components } from '../../packages/parley/src/openapi/components.js';
import { OPERATION_NAMES, OPERATIONS } from '../../packages/parley/src/operations/operations.js';
import { arbitraryJson, arbitraryOf } from './arbitrary-model.js';
import { mangleValue } from './mangled.js';
import { isHoldable } from './model-oracle.js';
import { mutateValues } from './mutated.js';

const LIMITS = { ofIds: { maxLength: 1024 }, parts: 1000, pushNotifications: true };

const arbitraryChoice = fc.array(fc.boolean(), { minLength: 16, maxLength: 64 }).map((answers) => {
  let next = 0;
  return () => answers[next++ % answers.length] === true;
});

/** Values as JSON brings them: without members that are undefined, and with nothing that has no JSON. */
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value) ?? 'null');

const requestOf = (name: (typeof OPERATION_NAMES)[number]) => OPERATIONS[name].request;
const operations = OPERATION_NAMES;

describe.each(
  operations.filter((name, at) => operations.findIndex((one) => requestOf(one) === requestOf(name)) === at),
)('the published request of %s', (operation) => {
  const type = requestOf(operation);
  const components = new Components();
  const { schema, optional } = v1_0Schemas.params(operation, components, LIMITS);
  const ajv = new Ajv2020({
    strict: true,
    strictRequired: false,
    allowUnionTypes: true,
    formats: { 'date-time': isDate },
  });
  ajv.addKeyword('components');
  const accepts = ajv.compile({ ...schema, components: { schemas: components.schemas } });

  const judge = (drawn: unknown) => {
    const value = asJson(drawn);
    if (!isHoldable(value)) return;
    expect({ value, accepted: accepts(value ?? {}) }).toEqual({ value, accepted: isAccepted(type, value) });
  };

  test('is what is accepted, in every form that ProtoJSON allows and changed at random places', () => {
    const anyForm = fc
      .tuple(arbitraryOf(type), arbitraryChoice)
      .map(([value, choice]) => mangleValue(type, value, choice));
    fc.assert(fc.property(anyForm, judge), { numRuns: 300 });
    fc.assert(fc.property(mutateValues(anyForm), judge), { numRuns: 1000 });
    fc.assert(fc.property(arbitraryJson, judge), { numRuns: 100 });
  });

  test('may be left out where it is said so', () => {
    expect(isAccepted(type, undefined)).toBe(optional);
  });
});

function isAccepted(type: ReturnType<typeof requestOf>, value: unknown): boolean {
  try {
    const { message } = decodeType(type, value) as { message?: { role: string } };
    // Messages of callers always have the role of the user.
    return message === undefined || message.role === 'ROLE_USER';
  } catch (error) {
    if (error instanceof InvalidParamsError) return false;
    throw error;
  }
}

/** RFC 3339, in a year that there is whatever the offset. */
function isDate(text: string): boolean {
  const local = new Date(`${text.slice(0, 19).toUpperCase()}Z`);
  if (Number.isNaN(local.getTime()) || local.toISOString().slice(0, 10) !== text.slice(0, 10)) return false;
  return new Date(text.toUpperCase()).getUTCFullYear() > 0 && new Date(text.toUpperCase()).getUTCFullYear() < 10_000;
}
