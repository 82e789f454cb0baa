import { describe, expect, test } from 'vitest';
import { isStreamResponse } from './validation.js';
import { MAX_VIOLATIONS, violationsOf } from './violations.js';

const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hi' }] };

describe('violationsOf', () => {
  test('says nothing about a valid value', () => {
    expect(violationsOf('SendMessageRequest', { message })).toEqual([]);
  });

  test('says of each member what it should have been', () => {
    const value = {
      message: {
        messageId: '',
        role: 'user',
        parts: [{ text: 'a', raw: 'b' }, { raw: '?' }, { text: '\ud800' }, 5],
        extensions: {},
        metadata: [],
      },
      configuration: { historyLength: -1, returnImmediately: 'yes', taskPushNotificationConfig: {} },
      unknown: 1,
    };
    expect(violationsOf('SendMessageRequest', value)).toEqual([
      { field: 'unknown', description: 'is not a known member' },
      { field: 'message.messageId', description: 'must not be empty' },
      { field: 'message.role', description: 'must be one of ROLE_USER, ROLE_AGENT' },
      { field: 'message.parts[0].raw', description: 'must be base64' },
      { field: 'message.parts[0]', description: 'must have exactly one of text, raw, url, data' },
      { field: 'message.parts[1].raw', description: 'must be base64' },
      { field: 'message.parts[2].text', description: 'must be well-formed Unicode' },
      { field: 'message.parts[3]', description: 'must be an object' },
      { field: 'message.metadata', description: 'must be an object' },
      { field: 'message.extensions', description: 'must be a list' },
      { field: 'configuration.taskPushNotificationConfig.url', description: 'is required' },
      { field: 'configuration.historyLength', description: 'must be from 0 to 2147483647' },
      { field: 'configuration.returnImmediately', description: 'must be true or false' },
    ]);
  });

  test('names the value itself by an empty path', () => {
    expect(violationsOf('GetTaskRequest', 'x')).toEqual([{ field: '', description: 'must be an object' }]);
    expect(violationsOf('StreamResponse', {})).toEqual([
      { field: '', description: 'must have exactly one of task, message, statusUpdate, artifactUpdate' },
    ]);
  });

  test('puts names that are no identifiers in brackets, and cuts them', () => {
    const securitySchemes = { 'a b': {}, '\ud800': {}, ['x'.repeat(1000)]: {} };
    const fields = violationsOf('AgentCard', { securitySchemes }).map(({ field }) => field);
    expect(fields).toContain('securitySchemes["a b"]');
    expect(fields).toContain('securitySchemes["\\ud800"]');
    expect(fields).toContain(`securitySchemes["${'x'.repeat(64)}"]`);
  });

  test('tells the first ones of a large wrong value only', () => {
    const parts = Array.from({ length: 100_000 }, () => ({}));
    const listed = violationsOf('Message', { ...message, parts });
    expect(listed).toHaveLength(MAX_VIOLATIONS);
    const strange = Object.fromEntries(parts.map((_, i) => [`x${i}`, i]));
    expect(violationsOf('Message', strange)).toHaveLength(MAX_VIOLATIONS);
    expect(violationsOf('SecurityRequirement', { schemes: strange })).toHaveLength(MAX_VIOLATIONS);
  });
});

describe('isStreamResponse', () => {
  const chunk = (part: unknown) => ({
    artifactUpdate: { taskId: 't', contextId: 'c', artifact: { artifactId: 'a', parts: [part] } },
  });

  test('takes a member that is undefined as absent', () => {
    expect(isStreamResponse(chunk({ text: 'x', raw: undefined, metadata: undefined }))).toBe(true);
    expect(isStreamResponse({ ...chunk({ text: 'x' }), task: undefined })).toBe(true);
  });

  test.each([
    ['a function', () => 1],
    ['a big integer', 1n],
    ['not a number', Number.NaN],
    ['a date', new Date(0)],
    ['an error', new Error('x')],
  ])('refuses what cannot be JSON: %s', (_, data) => {
    expect(isStreamResponse(chunk({ data }))).toBe(false);
    expect(isStreamResponse(chunk({ text: 'x', metadata: { data } }))).toBe(false);
  });

  test.each([undefined, null, 0, '', [], 'task', () => 1])('refuses %s', (value) => {
    expect(isStreamResponse(value)).toBe(false);
  });
});
