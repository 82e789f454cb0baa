import { describe, expect, test } from 'vitest';
import { InvalidParamsError } from '../../errors/standard-errors.js';
import type { OperationName } from '../../operations/operations.js';
import { decodeType } from './decode-type.js';
import { v1_0 } from './wire-codec.js';

const message = (extra: object = {}) => ({ messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hi' }], ...extra });

function violations(operation: OperationName, value: unknown) {
  try {
    v1_0.decode(operation, value);
  } catch (error) {
    if (error instanceof InvalidParamsError) return error.details.violations;
    throw error;
  }
  return undefined;
}

describe('decoding a request of version 1.0', () => {
  test('takes the closed form as it is, without a copy', () => {
    const request = { message: message() };
    expect(v1_0.decode('sendMessage', request)).toBe(request);
  });

  test('Spec §5.7: says what is wrong with a part', () => {
    expect(violations('sendMessage', { message: message({ parts: [{ text: 'a', data: null }] }) })).toEqual([
      { field: 'message.parts[0]', description: 'must have exactly one of text, raw, url, data' },
    ]);
  });

  test('Spec §5.7: tells an empty required member from one that is absent', () => {
    expect(violations('sendMessage', { message: message({ messageId: '', role: 0 }) })).toEqual([
      { field: 'message.messageId', description: 'must not be empty' },
      { field: 'message.role', description: 'must be one of ROLE_USER, ROLE_AGENT' },
    ]);
    expect(violations('getTask', { id: null })).toEqual([{ field: 'id', description: 'is required' }]);
  });

  test('needs the task of a webhook that is created on its own only', () => {
    expect(violations('createTaskPushNotificationConfig', { url: 'https://example.com' })).toEqual([
      { field: 'taskId', description: 'is required' },
    ]);
    const configuration = { taskPushNotificationConfig: { url: 'https://example.com' } };
    expect(violations('sendMessage', { message: message(), configuration })).toBeUndefined();
  });

  test('pollutes no prototype, whatever the names', () => {
    const text = `{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"message":{
      "messageId":"m","role":"ROLE_USER","parts":[{"text":"hi","__proto__":{"polluted":1}}],"metadata":{"__proto__":{"polluted":1}}}}`;
    const request = v1_0.decode('sendMessage', JSON.parse(text));
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
    expect(Object.keys(request)).toEqual(['message']);
    expect(Object.getPrototypeOf(request)).toBe(Object.prototype);
    expect(Object.getPrototypeOf(request.message.parts[0])).toBe(Object.prototype);
    expect(JSON.stringify(request.message.metadata)).toBe('{"__proto__":{"polluted":1}}');
  });

  test('keeps names of a map that are names of Object.prototype', () => {
    const text = '{"x":1,"schemes":{"__proto__":{"list":["a"]},"constructor":{},"toString":{"list":[]}}}';
    const { schemes } = decodeType('SecurityRequirement', JSON.parse(text));
    expect(JSON.stringify(schemes)).toBe('{"__proto__":{"list":["a"]},"constructor":{},"toString":{"list":[]}}');
  });

  test('reads a query made of an object without prototype', () => {
    const query: Record<string, string> = Object.assign(Object.create(null), { pageSize: '5', status: '0', x: 'y' });
    expect(v1_0.decode('listTasks', query, 'text')).toStrictEqual({ pageSize: 5 });
  });

  test('answers a very large wrong request with a small error', () => {
    const parts = Array.from({ length: 200_000 }, (_, i) => ({ [`x${i}`]: i }));
    expect(violations('sendMessage', { message: message({ parts }) })).toHaveLength(50);
  });

  test('tells what is wrong in the form the model would have had', () => {
    expect(violations('sendMessage', { message: message({ task_id: 5 }) })).toEqual([
      { field: 'message.taskId', description: 'must be a string' },
    ]);
  });
});
