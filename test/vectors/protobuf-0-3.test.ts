import { deepStrictEqual } from 'node:assert/strict';
import { type DescMessage, fromBinary, fromJson, type JsonValue, toBinary, toJson } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { a2aV1A2a } from '../../packages/grpc/src/protobuf/descriptors.generated.js';
import { protobufClientV0_3, protobufV0_3 } from '../../packages/grpc/src/protobuf/v0_3.js';
import { clientV0_3HttpJson } from '../../packages/parley/src/codec/v0_3/client-codec.js';
import { v0_3HttpJson } from '../../packages/parley/src/codec/v0_3/wire-codec.js';
import { InvalidParamsError } from '../../packages/parley/src/errors/standard-errors.js';
import {
  isStreaming,
  OPERATION_NAMES,
  OPERATIONS,
  type OperationName,
  type UnaryOperationName,
} from '../../packages/parley/src/operations/operations.js';
import { arbitraryOf } from './arbitrary-model.js';

const TIMESTAMP = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z$/;
const RUNS = { numRuns: 100 };
const served = OPERATION_NAMES.filter((name) => protobufClientV0_3.methodOf(name) !== undefined);
const unary = served.filter((name): name is UnaryOperationName => !isStreaming(name));

describe('0.3 in protobuf', () => {
  test('has all operations but the list of tasks', () => {
    expect(OPERATION_NAMES.filter((name) => !served.includes(name))).toEqual(['listTasks']);
    expect(protobufV0_3.methods.get('TaskSubscription')).toBe('subscribeToTask');
  });
});

describe.each(unary)('0.3 in protobuf: a response of %s', (operation) => {
  test('survives both halves as over HTTP+JSON, and is a message of the definition', () => {
    const { response: type } = OPERATIONS[operation];
    if (type === undefined) {
      expect(protobufV0_3.encode(operation, undefined as never)).toHaveLength(0);
      expect(protobufClientV0_3.decodeResponse(operation, new Uint8Array())).toBeUndefined();
      return;
    }
    const { output } = messagesOf(operation);
    fc.assert(
      fc.property(arbitraryOf(type), (value) => {
        const response = reachable(value) as never;
        const bytes = protobufV0_3.encode(operation, response);
        const message = fromBinary(output, bytes);
        const json = toJson(output, message, { alwaysEmitImplicit: true });
        const read = protobufClientV0_3.decodeResponse(operation, bytes);
        deepStrictEqual(plain(read), plain(clientV0_3HttpJson.decodeResponse(operation, json as never)));
      }),
      RUNS,
    );
  });
});

describe.each(served)('0.3 in protobuf: a request of %s', (operation) => {
  test('survives both halves as over HTTP+JSON', () => {
    fc.assert(
      fc.property(arbitraryOf(OPERATIONS[operation].request), (value) => {
        const request = reachable(value) as never;
        const bytes = protobufClientV0_3.encodeRequest(operation, request);
        const read = protobufV0_3.decode(operation, bytes);
        const { input } = messagesOf(operation);
        const again = toBinary(input, fromJson(input, toJson(input, fromBinary(input, bytes)) as JsonValue));
        deepStrictEqual(protobufV0_3.decode(operation, again), read);
        const json = clientV0_3HttpJson.encodeRequest(operation, request);
        const { metadata: _, ...wanted } = v0_3HttpJson.decode(operation, JSON.parse(JSON.stringify(json))) as {
          metadata?: unknown;
        };
        const { metadata: __, ...found } = read as { metadata?: unknown };
        // HTTP+JSON of that time has no pages.
        const { pageSize, pageToken } = request as { pageSize?: number; pageToken?: string };
        deepStrictEqual(plain(found), plain({ ...wanted, pageSize, pageToken }));
      }),
      RUNS,
    );
  });
});

describe('0.3 in protobuf: resource names', () => {
  test.each([
    ['getTask', 'tasks/t-1', { id: 't-1' }],
    ['cancelTask', 'tasks/t-1', { id: 't-1' }],
    ['subscribeToTask', 'tasks/t-1', { id: 't-1' }],
    ['getTaskPushNotificationConfig', 'tasks/t-1/pushNotificationConfigs/c', { taskId: 't-1', id: 'c' }],
    ['deleteTaskPushNotificationConfig', 'tasks/t-1/pushNotificationConfigs/c', { taskId: 't-1', id: 'c' }],
  ] as const)('%s reads the ids of %s, and refuses other names', (operation, name, ids) => {
    const { input } = messagesOf(operation);
    const read = (given: string) => protobufV0_3.decode(operation, toBinary(input, fromJson(input, { name: given })));
    expect(read(name)).toEqual(ids);
    for (const wrong of ['', 't-1', 'tasks/', 'tasks/a/b', `x/${name}`]) {
      expect(() => read(wrong)).toThrow(InvalidParamsError);
      expect(violationsOf(() => read(wrong))).toMatchObject([{ field: 'name' }]);
    }
  });
});

describe('0.3 in protobuf: blocking', () => {
  const { input } = messagesOf('sendMessage');
  const message = { messageId: 'm', role: 'ROLE_USER', content: [{ text: 'hi' }] };
  const configurationOf = (configuration?: JsonValue) => {
    const json = { message, ...(configuration !== undefined && { configuration }) };
    return protobufV0_3.decode('sendMessage', toBinary(input, fromJson(input, json as JsonValue))).configuration;
  };

  test('an absent configuration waits, and one without `blocking` does not: protobuf cannot tell it from false', () => {
    expect(configurationOf()).toBeUndefined();
    expect(configurationOf({ blocking: true })).toEqual({ returnImmediately: false });
    expect(configurationOf({ blocking: false })).toEqual({ returnImmediately: true });
    expect(configurationOf({ acceptedOutputModes: ['text/plain'] })).toMatchObject({ returnImmediately: true });
  });
});

function violationsOf(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error instanceof InvalidParamsError ? error.details.violations : error;
  }
  return undefined;
}

function messagesOf(operation: OperationName): { readonly input: DescMessage; readonly output: DescMessage } {
  const name = protobufClientV0_3.methodOf(operation);
  const method = a2aV1A2a.services[0]?.methods.find((candidate) => candidate.name === name);
  if (method === undefined) throw new Error(`no method ${name}`);
  return method;
}

/** The value with ids that fit into resource names, and addresses that clients take. */
function reachable(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => reachable(item));
  if (typeof value === 'string') {
    if (name === 'url') return 'https://a.test';
    return /^(id|taskId)$/.test(name) ? `i-${value.length}` : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([member, item]) => [member, reachable(item, member)]));
}

/** The value without what protobuf cannot tell from an absent field, and with nanoseconds in each timestamp. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === 'string')
    return value.replace(TIMESTAMP, (_, time, nanos = '') => `${time}.${nanos.padEnd(9, '0')}Z`);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, plain(member)] as const);
  return Object.fromEntries(members.filter(([, member]) => !isDefault(member)));
}

function isDefault(value: unknown): boolean {
  return value === undefined || value === '' || value === 0 || value === false || isEmpty(value);
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
