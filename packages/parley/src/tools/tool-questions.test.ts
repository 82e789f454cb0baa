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
function answered(schema: JsonObject | undefined, parts: readonly Part[]): unknown {
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

  it.each<[string, JsonObject | undefined, readonly Part[], unknown]>([
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
    expect(answered(schema, parts)).toEqual(expected);
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
