import { describe, expect, it } from 'vitest';
import { answerOf, fieldsOf } from './form-fields.js';

const SCHEMA = {
  type: 'object',
  properties: {
    nights: { type: 'integer', title: 'Nights' },
    bed: { enum: ['single', 2], enumNames: ['One', 'Two'] },
    kind: { oneOf: [{ const: 'a', title: 'First' }, { const: 'b' }], default: 'b' },
    note: { type: 'string' },
    late: { type: 'boolean' },
    days: { type: 'array', items: { type: 'string' } },
  },
  required: ['nights'],
};

describe('fields of a schema', () => {
  it('reads kinds, titles, choices and defaults', () => {
    const fields = fieldsOf(SCHEMA);
    expect(fields.map(({ kind }) => kind)).toEqual(['number', 'choice', 'choice', 'text', 'boolean', 'json']);
    expect(fields.map(({ isRequired }) => isRequired)).toEqual([true, false, false, false, false, false]);
    expect(fields[1]?.choices.map(({ title }) => title)).toEqual(['One', 'Two']);
    expect(fields[2]).toMatchObject({ choices: [{ title: 'First' }, { title: 'b' }], initial: '1' });
  });

  it('makes typed values of texts, and leaves empty optional fields out', () => {
    const fields = fieldsOf(SCHEMA);
    expect(answerOf(fields, ['3', '1', '0', 'quiet', 'true', '["Mon"]'])).toEqual({
      nights: 3,
      bed: 2,
      kind: 'a',
      note: 'quiet',
      late: true,
      days: ['Mon'],
    });
    expect(answerOf(fields, ['3', '', '', '', '', ''])).toEqual({ nights: 3, late: false });
    expect(() => answerOf(fields, ['3', '', '', '', '', 'Mon'])).toThrow('days takes JSON, such as ["a", "b"]');
  });

  it('takes a schema that is no form as one value', () => {
    expect(answerOf(fieldsOf({ type: 'number' }), ['4'])).toBe(4);
    expect(answerOf(fieldsOf({ enum: ['yes', 'no'] }), ['0'])).toBe('yes');
    expect(answerOf(fieldsOf({ properties: {} }), [])).toEqual({});
  });
});
