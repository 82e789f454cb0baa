import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../model/json.js';
import type { Part } from '../model/part.js';
import { answerQuestion, answersIn, questionMessage, toolQuestions } from './tool-questions.js';

const form = (properties: JsonObject, required: readonly string[] = []): JsonObject => ({
  type: 'object',
  properties,
  required,
});
const text = (value: string): Part => ({ text: value });
const data = (value: JsonValue): Part => ({ data: value });

/** The answer to one question, or its fault. */
function readAnswer(schema: JsonObject | undefined, parts: readonly Part[]): unknown {
  const question = { message: 'Well?', ...(schema && { schema }) };
  const read = answersIn(parts, new Map([['1.1', question]]), true).get('1.1');
  if (read === undefined || 'fault' in read) return read?.fault;
  return read.answer.content ?? read.answer.action;
}

describe('an answer to the question of a tool', () => {
  const city = form({ city: { type: 'string', enum: ['Oslo', 'Riga'] } }, ['city']);
  const nights = form({ nights: { type: 'integer', minimum: 1 } }, ['nights']);
  const sure = form({ sure: { type: 'boolean' } }, ['sure']);
  const both = form({ a: { type: 'string' }, b: { type: 'number' } }, ['a', 'b']);

  const name = form({ name: { type: 'string' } }, ['name']);
  const optional = form({ name: { type: 'string' }, age: { type: 'integer' } });
  const wish = form({ wish: { type: 'string', enum: ['yes', 'no', 'later'] } }, ['wish']);
  const titled = form(
    {
      room: {
        oneOf: [
          { const: 'r1', title: 'Sea view' },
          { const: 'r2', title: 'No' },
        ],
      },
    },
    ['room'],
  );

  it.each<[string, JsonObject | undefined, readonly Part[], unknown]>([
    ['a refusal of the only field', name, [text('no')], 'decline'],
    ['a refusal of a number', nights, [text('No.')], 'decline'],
    ['a refusal of a choice', city, [text('decline')], 'decline'],
    ['a refusal of a boolean', sure, [text('decline')], 'decline'],
    ['a word that the field lists', wish, [text('no')], { wish: 'no' }],
    ['a title that the field lists', titled, [text('no')], { room: 'r2' }],
    ['a title of a choice', titled, [text('sea view')], { room: 'r1' }],
    ['none of the titled choices', titled, [text('r3')], expect.stringContaining('room')],
    ['a choice in another case', city, [text('oslo')], { city: 'Oslo' }],
    ['the form of one field as JSON', nights, [text('{"nights":2}')], { nights: 2 }],
    ['the refusing word as JSON', name, [text('"no"')], { name: 'no' }],
    ['the refusing word in a form', name, [text('{"name":"no"}')], { name: 'no' }],
    ['JSON that is a text', name, [text('{"other":1}')], { name: '{"other":1}' }],
    ['a number for a text', name, [text('3')], { name: '3' }],
    ['the value as data', nights, [data(3)], { nights: 3 }],
    ['the form as data', nights, [data({ nights: 3 })], { nights: 3 }],
    ['a list as JSON', form({ tags: { type: 'array' } }), [text('["a","b,c"]')], { tags: ['a', 'b,c'] }],
    ['numbers of a list', form({ n: { type: 'array', items: { type: 'integer' } } }), [text('1, 2')], { n: [1, 2] }],
    ['a value that may be absent', form({ n: { type: ['integer', 'null'] } }), [text('null')], { n: null }],
    ['data without a form', undefined, [data({ sure: false })], 'answer yes or no'],
    [
      'no malformed data that names its call',
      optional,
      [data({ toolAnswer: { callId: '1.1', action: 'maybe' } })],
      expect.stringContaining('toolAnswer'),
    ],
    ['no decision about another call', optional, [data({ toolApproval: { callId: '1.1' } })], expect.anything()],
    ['a text', city, [text('Oslo')], { city: 'Oslo' }],
    ['a text that is none of the values', city, [text('Rome')], expect.stringContaining('city')],
    ['a number', nights, [text(' 3 ')], { nights: 3 }],
    ['no number', nights, [text('three')], expect.stringContaining('nights')],
    ['an empty text', nights, [text('')], expect.stringContaining('nights')],
    ['a yes', sure, [text('Yes.')], { sure: true }],
    ['a no', sure, [text('n')], { sure: false }],
    ['a list', form({ tags: { type: 'array' } }), [text('a, b')], { tags: ['a', 'b'] }],
    ['the content', both, [data({ a: 'x', b: 1 })], { a: 'x', b: 1 }],
    ['the content as a text', both, [text('{"a":"x","b":1}')], { a: 'x', b: 1 }],
    ['a part of the content', both, [data({ a: 'x' })], expect.stringContaining('b')],
    ['a no for a form', both, [text('no')], 'decline'],
    ['words for a form', both, [text('x and 1')], expect.stringContaining('JSON')],
    ['a yes without a form', undefined, [text('yes')], {}],
    ['a no without a form', undefined, [text('no')], 'decline'],
    ['words without a form', undefined, [text('perhaps')], 'answer yes or no'],
    ['named data', both, [data({ toolAnswer: { callId: '1.1', content: { a: 'x', b: 1 } } })], { a: 'x', b: 1 }],
    ['a named decline', both, [data({ toolAnswer: { callId: '1.1', action: 'decline' } })], 'decline'],
  ])('can be %s', (_, schema, parts, expected) => {
    expect(readAnswer(schema, parts)).toEqual(expected);
  });

  it('names its call if several wait', () => {
    const questions = new Map([
      ['1.1', { message: 'One?' }],
      ['1.2', { message: 'Two?' }],
    ]);
    expect([...answersIn([text('yes')], questions, false).keys()]).toEqual([]);
    const named = data({ toolAnswer: { callId: '1.2', action: 'accept' } });
    const foreign = data({ toolAnswer: { callId: '9.9', action: 'accept' } });
    expect([...answersIn([named, foreign], questions, false).keys()]).toEqual(['1.2']);
  });
});

describe('the message of a question', () => {
  it.each([
    [form({ a: { type: 'string' } }), 'Answer with the value, or with no to decline.'],
    [form({ a: { type: 'boolean' } }), 'Answer with the value, or with decline to decline.'],
    [form({ a: {}, b: {} }), 'Answer with a JSON object of these fields, or with no to decline.'],
    [undefined, 'Answer yes or no.'],
  ])('says how to decline: %j', (schema, line) => {
    const one = { callId: '1.1', tool: 't', message: 'Well?', expiresAt: '2026-01-01T00:00:00Z' };
    const [part] = questionMessage([{ ...one, ...(schema && { schema }) }], new Map()).parts;
    expect(part).toEqual({ text: expect.stringContaining(line) });
  });

  const asked = {
    callId: '1.1',
    tool: 'room',
    message: 'Which\u202e room?\u001b[31m',
    expiresAt: '2026-01-01T00:00:00Z',
  };

  it('shows no character that changes the order or the look of a text', () => {
    const [part] = questionMessage([asked], new Map([['1.1', 'it is late']])).parts;
    expect(part).toEqual({
      text: 'The answer does not fit: it is late\n\nroom asks:\n\nWhich\\u{202e} room?\\u{1b}[31m\n\nAnswer yes or no.',
    });
  });

  it('is read by programs, and answered', () => {
    const { parts } = questionMessage([asked], new Map());
    const message = { messageId: 'm', role: 'ROLE_AGENT', parts } as const;
    const task = { id: 't', contextId: 'c', status: { state: 'TASK_STATE_INPUT_REQUIRED', message } } as const;
    expect(toolQuestions(task)).toEqual([asked]);
    expect(answerQuestion(task, { action: 'accept', content: {} })).toEqual({
      taskId: 't',
      contextId: 'c',
      parts: [{ data: { toolAnswer: { callId: '1.1', action: 'accept', content: {} } } }],
    });
    expect(() => answerQuestion(task, { action: 'decline' }, { callId: '2' })).toThrow(RangeError);
    expect(toolQuestions({ status: { state: 'TASK_STATE_COMPLETED', message } })).toEqual([]);
  });
});
