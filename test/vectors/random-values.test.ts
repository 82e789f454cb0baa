import { deepStrictEqual } from 'node:assert/strict';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeType } from '../../packages/parley/src/codec/v1_0/decode-type.js';
import { v1_0 } from '../../packages/parley/src/codec/v1_0/wire-codec.js';
import { InvalidParamsError } from '../../packages/parley/src/errors/standard-errors.js';
import type { StreamResponse } from '../../packages/parley/src/model/stream-response.js';
import { TYPE_TABLE } from '../../packages/parley/src/model/type-table.generated.js';
import { isValid, type ModelTypeName, violationsOf } from '../../packages/parley/src/model/validation.js';
import { arbitraryJson, arbitraryOf } from './arbitrary-model.js';
import { mangleValue } from './mangled.js';
import { oracle } from './model-oracle.js';
import { mutateValues } from './mutated.js';

const TYPES = Object.keys(TYPE_TABLE) as ModelTypeName[];

/** Other values are drawn in each run of the tests. */
const RUNS = { numRuns: process.env.TEST_LONG === undefined ? 50 : 500 };
/** Most changes hit a member that nothing reads. */
const CHANGED_RUNS = { numRuns: process.env.TEST_LONG === undefined ? 130 : 1_300 };

/** Answers drawn once and then repeated, so that a failure can be replayed. */
const arbitraryChoice = fc.array(fc.boolean(), { minLength: 16, maxLength: 64 }).map((answers) => {
  let next = 0;
  return () => answers[next++ % answers.length] === true;
});

describe.each(TYPES)('v1.0 wire: any %s', (type) => {
  test('survives being written and read', () => {
    fc.assert(
      fc.property(arbitraryOf(type), (value) => {
        expect(isValid(type, value)).toBe(true);
        deepStrictEqual(decodeType(type, JSON.parse(JSON.stringify(value))), value);
      }),
      RUNS,
    );
  });

  test('is the same in every form that ProtoJSON allows', () => {
    fc.assert(
      fc.property(arbitraryOf(type), arbitraryChoice, (value, choice) => {
        deepStrictEqual(decodeType(type, mangleValue(type, value, choice)), value);
      }),
      RUNS,
    );
  });

  test('is judged as by the JSON Schema, also when changed at random places', () => {
    const judge = (value: unknown) => {
      const verdict = oracle(type, value);
      expect(isValid(type, value)).toBe(verdict);
      expect(violationsOf(type, value).length === 0).toBe(verdict);
    };
    fc.assert(fc.property(arbitraryJson, judge), RUNS);
    fc.assert(fc.property(mutateValues(arbitraryOf(type)), judge), CHANGED_RUNS);
  });

  test('is read as something the JSON Schema allows, or refused with the fields named', () => {
    const read = (value: unknown) => {
      for (const form of ['json', 'text'] as const) {
        try {
          expect(oracle(type, decodeType(type, value, form))).toBe(true);
        } catch (error) {
          if (!(error instanceof InvalidParamsError)) throw error;
          expect(error.details.violations?.length).toBeGreaterThan(0);
        }
      }
    };
    fc.assert(fc.property(arbitraryJson, read), RUNS);
    fc.assert(fc.property(mutateValues(arbitraryOf(type)), read), CHANGED_RUNS);
  });
});

describe('v1.0 wire', () => {
  test('writes what it reads: events of a stream', () => {
    fc.assert(
      fc.property(arbitraryOf('StreamResponse'), (value) => {
        const event = value as StreamResponse;
        deepStrictEqual(decodeType('StreamResponse', JSON.parse(v1_0.encodeEvent({ event }))), event);
      }),
      RUNS,
    );
  });

  test('bears any nesting without exhausting the stack', () => {
    for (const depth of [5_000, 100_000]) {
      const list = JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`);
      const object = JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`);
      for (const type of TYPES) {
        for (const value of [list, object]) expect(() => decodeTolerant(type, value)).not.toThrow();
      }
      for (const data of [list, object]) {
        const request = {
          message: { messageId: 'm', role: 'ROLE_USER', parts: [{ data }], metadata: object, x: list },
        };
        expect(() => v1_0.decode('sendMessage', request)).toThrow(
          expect.objectContaining({ code: 'INVALID_REQUEST', details: { metadata: { limit: 'jsonDepth' } } }),
        );
      }
    }
  });
});

/** Reads a value of which only the absence of a crash is asked. */
function decodeTolerant(type: ModelTypeName, value: unknown): void {
  try {
    decodeType(type, value);
  } catch (error) {
    if (!(error instanceof InvalidParamsError)) throw error;
  }
}
