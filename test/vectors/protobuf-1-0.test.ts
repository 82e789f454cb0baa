import { deepStrictEqual } from 'node:assert/strict';
import { type DescMessage, fromBinary, fromJson, type JsonValue, toBinary, toJson } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lfA2aV1A2a } from '../../packages/grpc/src/protobuf/descriptors.generated.js';
import { protobufClientV1_0, protobufV1_0 } from '../../packages/grpc/src/protobuf/v1_0.js';
import { clientV1_0 } from '../../packages/parley/src/codec/v1_0/client-codec.js';
import { decodeType } from '../../packages/parley/src/codec/v1_0/decode-type.js';
import { v1_0 } from '../../packages/parley/src/codec/v1_0/wire-codec.js';
import type { AgentCard } from '../../packages/parley/src/model/agent-card.js';
import type { StreamResponse } from '../../packages/parley/src/model/stream-response.js';
import {
  isStreaming,
  OPERATION_NAMES,
  OPERATIONS,
  type OperationName,
  type UnaryOperationName,
} from '../../packages/parley/src/operations/operations.js';
import { arbitraryOf } from './arbitrary-model.js';

const RUNS = { numRuns: 150 };

const unary = OPERATION_NAMES.filter((name): name is UnaryOperationName => !isStreaming(name));

describe.each(OPERATION_NAMES)('1.0 in protobuf: %s (Spec §10)', (operation) => {
  const { input } = messagesOf(operation);

  test('a request survives both halves, and is that of ProtoJSON', () => {
    fc.assert(
      fc.property(arbitraryOf(OPERATIONS[operation].request), (request) => {
        const bytes = protobufClientV1_0.encodeRequest(operation, request as never);
        const json = toJson(input, fromJson(input, request as JsonValue));
        deepStrictEqual(canonical(toJson(input, fromBinary(input, bytes))), canonical(json));
        const read = protobufV1_0.decode(operation, bytes);
        deepStrictEqual(canonical(read), canonical(v1_0.decode(operation, json)));
        deepStrictEqual(protobufV1_0.decode(operation, toBinary(input, fromJson(input, request as JsonValue))), read);
      }),
      RUNS,
    );
  });
});

describe.each(unary)('1.0 in protobuf: %s (Spec §10)', (operation) => {
  const { output } = messagesOf(operation);
  const { response: type } = OPERATIONS[operation];

  test('a response survives both halves, and is that of ProtoJSON', () => {
    if (type === undefined) {
      expect(protobufV1_0.encode(operation, undefined as never)).toHaveLength(0);
      expect(protobufClientV1_0.decodeResponse(operation, new Uint8Array())).toBeUndefined();
      return;
    }
    fc.assert(
      fc.property(arbitraryResponse(type), (response) => {
        const bytes = protobufV1_0.encode(operation, response as never);
        const json = toJson(output, fromJson(output, response as JsonValue));
        deepStrictEqual(canonical(toJson(output, fromBinary(output, bytes))), canonical(json));
        const read = protobufClientV1_0.decodeResponse(operation, bytes);
        deepStrictEqual(canonical(read), canonical(clientV1_0.decodeResponse(operation, decodeType(type, json))));
      }),
      RUNS,
    );
  });
});

describe('1.0 in protobuf: events (Spec §3.2.3)', () => {
  const { output } = messagesOf('sendStreamingMessage');

  test('an event survives both halves, with its sequence number if the call asks for it', () => {
    fc.assert(
      fc.property(arbitraryOf('StreamResponse'), fc.nat(), (value, seq) => {
        const event = value as StreamResponse;
        const plain = protobufV1_0.encodeEvent({ event, seq });
        const json = toJson(output, fromJson(output, value as JsonValue));
        const wanted = canonical(decodeType('StreamResponse', json));
        deepStrictEqual(canonical(protobufClientV1_0.decodeEvent(plain)), { event: wanted });
        const numbered = protobufV1_0.encodeEvent({ event, seq }, true);
        deepStrictEqual(canonical(protobufClientV1_0.decodeEvent(numbered)), { event: wanted, id: String(seq) });
        deepStrictEqual(toJson(output, fromBinary(output, numbered)), toJson(output, fromBinary(output, plain)));
      }),
      RUNS,
    );
  });
});

/** Any response. Clients refuse some texts as addresses of a card. */
function arbitraryResponse(type: string): fc.Arbitrary<unknown> {
  if (type !== 'AgentCard') return arbitraryOf(type);
  return arbitraryOf(type).map((value) => {
    const card = value as AgentCard;
    return { ...card, supportedInterfaces: card.supportedInterfaces.map((entry) => ({ ...entry, url: 'a.test:1' })) };
  });
}

/** The messages of the method of an operation, as the definition has them. */
function messagesOf(operation: OperationName): { readonly input: DescMessage; readonly output: DescMessage } {
  const name = protobufClientV1_0.methodOf(operation);
  const method = lfA2aV1A2a.services[0]?.methods.find((candidate) => candidate.name === name);
  if (method === undefined) throw new Error(`no method ${name}`);
  return method;
}

/** The value with milliseconds in each timestamp, which ProtoJSON leaves out if they are zero. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value === 'string') return value.replace(/^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)Z$/, '$1.000Z');
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, canonical(member)]));
}
