import { deepStrictEqual } from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { decodeType } from '../../packages/parley/src/codec/v1_0/decode-type.js';
import { v1_0 } from '../../packages/parley/src/codec/v1_0/wire-codec.js';
import type { WireForm } from '../../packages/parley/src/codec/wire-codec.js';
import { InvalidParamsError } from '../../packages/parley/src/errors/standard-errors.js';
import type { ModelTypeName } from '../../packages/parley/src/model/validation.js';
import { OPERATIONS, type OperationName } from '../../packages/parley/src/operations/operations.js';

/** One line of a vector file: a wire value and what it means. `accept: true` is "as it is". */
interface Vector {
  readonly name: string;
  readonly operation?: OperationName;
  readonly type?: ModelTypeName;
  readonly form?: WireForm;
  readonly input?: unknown;
  readonly accept?: unknown;
  readonly refuse?: readonly string[];
}

const folder = join(import.meta.dirname, 'v1_0');
const files = readdirSync(folder).map((file) => ({ file, vectors: read(file) }));
const all = files.flatMap(({ vectors }) => vectors);

function read(file: string): readonly Vector[] {
  return JSON.parse(readFileSync(join(folder, file), 'utf8'));
}

function decode({ operation, type, form, input }: Vector): unknown {
  // The codec may change what it is given, so it gets a copy of its own.
  const value = structuredClone(input);
  if (operation !== undefined) return v1_0.decode(operation, value, form);
  if (type !== undefined) return decodeType(type, value, form);
  throw new Error('a vector names its operation or type');
}

function fieldsAtFault(vector: Vector): readonly string[] {
  try {
    decode(vector);
  } catch (error) {
    if (error instanceof InvalidParamsError) return (error.details.violations ?? []).map(({ field }) => field);
    throw error;
  }
  return [];
}

for (const { file, vectors } of files) {
  describe(`v1.0 wire, ${file}`, () => {
    for (const vector of vectors) {
      if (vector.refuse !== undefined) {
        test(`refuses: ${vector.name}`, () => {
          expect([...fieldsAtFault(vector)].sort()).toEqual([...(vector.refuse ?? [])].sort());
        });
      } else {
        test(`accepts: ${vector.name}`, () => {
          // Not expect: it takes a member named `constructor` for the class of the object.
          deepStrictEqual(decode(vector), vector.accept === true ? vector.input : vector.accept);
        });
      }
    }
  });
}

describe('the v1.0 vectors', () => {
  test('are many, each with a verdict and a name of its own in its file', () => {
    expect(all.length).toBeGreaterThanOrEqual(400);
    expect(all.filter(({ accept, refuse }) => (accept === undefined) === (refuse === undefined))).toEqual([]);
    for (const { vectors } of files) expect(new Set(vectors.map(({ name }) => name)).size).toBe(vectors.length);
  });

  test('accept and refuse something for every operation', () => {
    for (const operation of Object.keys(OPERATIONS)) {
      const own = all.filter((vector) => vector.operation === operation);
      expect(
        own.some(({ accept }) => accept !== undefined),
        `${operation} accepted`,
      ).toBe(true);
      expect(
        own.some(({ refuse }) => refuse !== undefined),
        `${operation} refused`,
      ).toBe(true);
    }
  });
});
