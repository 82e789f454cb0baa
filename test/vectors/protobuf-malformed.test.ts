import { deepStrictEqual } from 'node:assert/strict';
import { fromBinary, toJson } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lfA2aV1A2a } from '../../packages/grpc/src/protobuf/descriptors.generated.js';
import { protobufV0_3 } from '../../packages/grpc/src/protobuf/v0_3.js';
import { protobufClientV1_0, protobufV1_0 } from '../../packages/grpc/src/protobuf/v1_0.js';
import { FIXED64, LENGTH_DELIMITED, tagOf, VARINT } from '../../packages/grpc/src/protobuf/wire-reader.js';
import { WireWriter } from '../../packages/grpc/src/protobuf/wire-writer.js';
import { InvalidAgentResponseError } from '../../packages/parley/src/errors/spec-errors.js';
import { InvalidParamsError } from '../../packages/parley/src/errors/standard-errors.js';
import type { SendMessageRequest } from '../../packages/parley/src/model/send-message-request.js';
import { OPERATION_NAMES } from '../../packages/parley/src/operations/operations.js';
import { arbitraryOf } from './arbitrary-model.js';

const request = {
  message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hi' }, { data: { a: [1, null] } }] },
} as unknown as SendMessageRequest;
const bytes = protobufClientV1_0.encodeRequest('sendMessage', request);
const SendMessageRequestSchema = lfA2aV1A2a.messages.find(({ name }) => name === 'SendMessageRequest');

/** The violations of a request; undefined: it is valid. Any other error fails the test. */
function violationsOf(given: Uint8Array, operation: (typeof OPERATION_NAMES)[number] = 'sendMessage') {
  try {
    protobufV1_0.decode(operation, given);
    return undefined;
  } catch (error) {
    if (!(error instanceof InvalidParamsError)) throw error;
    return error.details.violations;
  }
}

/** Fields of one message from the last to the first. */
function writeBytes(write: (writer: WireWriter) => void): Buffer {
  const writer = new WireWriter();
  write(writer);
  return writer.finish();
}

/** Bytes as a field of a message around them. */
function field(number: number, content: Uint8Array): Buffer {
  const head = writeBytes((writer) => {
    writer.varint(content.length);
    writer.varint(tagOf(number, LENGTH_DELIMITED));
  });
  return Buffer.concat([head, content]);
}

const inMessage = (...parts: readonly Uint8Array[]) => Buffer.concat([bytes, field(2, Buffer.concat(parts))]);

describe('bytes that are no message', () => {
  test('are invalid parameters, wherever they end', () => {
    for (let end = 0; end < bytes.length; end++) {
      const violations = violationsOf(bytes.subarray(0, end));
      expect(violations?.length, `${end} bytes`).toBeGreaterThan(0);
    }
    expect(violationsOf(bytes)).toBeUndefined();
  });

  test('are invalid parameters or other valid ones, if they are random or changed at random places', () => {
    const change = fc.tuple(fc.nat(bytes.length - 1), fc.nat(255));
    const changed = fc.array(change, { minLength: 1, maxLength: 4 }).map((changes) => {
      const copy = Uint8Array.from(bytes);
      for (const [at, value] of changes) copy[at] = value;
      return copy;
    });
    const judge = (given: Uint8Array) => {
      for (const operation of OPERATION_NAMES) violationsOf(given, operation);
      refusal(() => protobufV0_3.decode('sendMessage', given), InvalidParamsError);
      refusal(() => protobufClientV1_0.decodeEvent(given), InvalidAgentResponseError);
    };
    fc.assert(fc.property(fc.oneof(fc.uint8Array({ maxLength: 64 }), changed), judge), { numRuns: 3000 });
  });

  test('are refused with a name of the message', () => {
    expect(violationsOf(Uint8Array.of(0x0a, 0x7f))).toEqual([
      { field: '', description: 'must be a lf.a2a.v1.SendMessageRequest: it is truncated' },
    ]);
  });

  test('are refused quickly, however large they are', () => {
    const groups = Buffer.alloc(10_000_000, 0x0b);
    const emptyParts = Buffer.alloc(10_000_000);
    for (let at = 0; at < emptyParts.length; at += 2) emptyParts[at] = tagOf(5, LENGTH_DELIMITED);
    const openVarints = Buffer.alloc(10_000_000, 0xff);
    for (const large of [groups, openVarints, field(2, groups)]) {
      const [violation] = violationsOf(large) ?? [];
      expect(violation?.field).toBe('');
    }
    // Each field of the one part takes the place of the other one.
    const rivals = field(5, Buffer.alloc(10_000_000, Buffer.from([tagOf(1, LENGTH_DELIMITED), 0, 0x12, 0])));
    for (const many of [emptyParts, rivals]) {
      expect(() => protobufV1_0.decode('sendMessage', field(2, many), 'json', 100_000)).toThrow(
        expect.objectContaining({ code: 'INVALID_REQUEST', details: { metadata: { limit: 'jsonItems' } } }),
      );
    }
  });
});

describe('messages in unusual forms', () => {
  test('unknown fields, groups and fields with another wire type are skipped', () => {
    const others = writeBytes((writer) => {
      writer.varint(tagOf(99, 4));
      writer.varint(7);
      writer.varint(tagOf(1, VARINT));
      writer.varint(tagOf(99, 3));
      writer.double(1);
      writer.varint(tagOf(1, FIXED64));
      writer.string('later');
      writer.varint(tagOf(98, LENGTH_DELIMITED));
    });
    deepStrictEqual(protobufV1_0.decode('sendMessage', Buffer.concat([others, bytes, others])), request);
  });

  test('a message that comes in pieces is merged, as the definition says', () => {
    fc.assert(
      fc.property(arbitraryOf('SendMessageRequest'), arbitraryOf('SendMessageRequest'), (first, second) => {
        const pieces = [first, second].map((piece) => protobufClientV1_0.encodeRequest('sendMessage', piece as never));
        const whole = Buffer.concat(pieces);
        if (SendMessageRequestSchema === undefined) throw new Error('no descriptor');
        const merged = fromBinary(SendMessageRequestSchema, whole);
        const json = toJson(SendMessageRequestSchema, merged) as unknown as SendMessageRequest;
        const again = protobufClientV1_0.encodeRequest('sendMessage', json);
        deepStrictEqual(protobufV1_0.decode('sendMessage', whole), protobufV1_0.decode('sendMessage', again));
      }),
      { numRuns: 100 },
    );
  });

  test('the last member of a oneof wins', () => {
    const part = Buffer.concat([field(1, Buffer.from('text')), field(3, Buffer.from('https://a.test'))]);
    const { message } = protobufV1_0.decode('sendMessage', inMessage(field(5, part)));
    expect(message.parts.at(-1)).toEqual({ url: 'https://a.test' });
  });

  test('an unknown number of an enum names its field', () => {
    const role = writeBytes((writer) => {
      writer.varint(7);
      writer.varint(tagOf(4, VARINT));
    });
    expect(violationsOf(inMessage(role))).toMatchObject([{ field: 'message.role' }]);
  });

  test('a moment outside of the years 1 to 9999 names its field', () => {
    const after = writeBytes((writer) => {
      writer.integer(-1e14);
      writer.varint(tagOf(1, VARINT));
    });
    expect(violationsOf(field(7, after), 'listTasks')).toMatchObject([{ field: 'statusTimestampAfter' }]);
  });

  test('a number that is not finite names its field', () => {
    const value = writeBytes((writer) => {
      writer.double(Number.NaN);
      writer.varint(tagOf(2, FIXED64));
    });
    expect(violationsOf(inMessage(field(5, field(4, value))))).toMatchObject([{ field: 'message.parts[2].data' }]);
  });

  test('a text that is not UTF-8 is refused, and U+FFFD and U+FEFF are texts', () => {
    expect(violationsOf(inMessage(field(2, Uint8Array.of(0x61, 0xff))))).toMatchObject([{ field: '' }]);
    const { message } = protobufV1_0.decode('sendMessage', inMessage(field(2, Buffer.from('\uFEFFa\uFFFD'))));
    expect(message.contextId).toBe('\uFEFFa\uFFFD');
  });

  test('a page size of 0 is unset, as some clients send it', () => {
    const none = writeBytes((writer) => {
      writer.varint(0);
      writer.varint(tagOf(4, VARINT));
    });
    expect(protobufV1_0.decode('listTasks', none)).toEqual({});
    const zero = protobufClientV1_0.encodeRequest('getTask', { id: 't', historyLength: 0 });
    expect(protobufV1_0.decode('getTask', zero)).toEqual({ id: 't', historyLength: 0 });
  });

  test('a member named __proto__ is a member', () => {
    const metadata = JSON.parse('{"__proto__":{"polluted":true}}');
    const sent = protobufClientV1_0.encodeRequest('sendMessage', { ...request, metadata });
    deepStrictEqual(protobufV1_0.decode('sendMessage', sent).metadata, metadata);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

describe('nesting', () => {
  /** A data part in as many lists or objects. */
  const writeNested = (levels: number, what: 'lists' | 'objects') =>
    writeBytes((writer) => {
      for (let level = 0; level < levels; level++) {
        if (what === 'objects') {
          writer.varint(writer.length);
          writer.varint(tagOf(2, LENGTH_DELIMITED));
          writer.string('a');
          writer.varint(tagOf(1, LENGTH_DELIMITED));
        }
        if (level > 0 || what === 'objects') {
          writer.varint(writer.length);
          writer.varint(tagOf(1, LENGTH_DELIMITED));
        }
        writer.varint(writer.length);
        writer.varint(tagOf(what === 'lists' ? 6 : 5, LENGTH_DELIMITED));
      }
    });

  test.each(['lists', 'objects'] as const)(
    '%s are read up to the limit of the model, and then name their field',
    (what) => {
      const { message } = protobufV1_0.decode('sendMessage', inMessage(field(5, field(4, writeNested(100, what)))));
      expect(message.parts).toHaveLength(3);
      for (const levels of [101, 10_000, 100_000]) {
        const deep = field(4, writeNested(levels, what));
        expect(() => protobufV1_0.decode('sendMessage', inMessage(field(5, deep)))).toThrow(
          'message.parts[2].data is nested deeper than 100 levels',
        );
        const event = field(2, Buffer.concat([field(1, Buffer.from('m')), field(5, deep)]));
        expect(() => protobufClientV1_0.decodeEvent(event)).toThrow(InvalidAgentResponseError);
      }
    },
  );
});

describe('requests of callers without types', () => {
  test('are refused with the fields at fault, as an agent would', () => {
    const wrong = { message: { messageId: 5, role: 'ROLE_KING', parts: [{ text: 1 }] } };
    const encode = () => protobufClientV1_0.encodeRequest('sendMessage', wrong as never);
    const fields = refusal(encode, InvalidParamsError)?.details.violations?.map((violation) => violation.field);
    expect(fields).toEqual(['message.messageId', 'message.role', 'message.parts[0].text']);
  });

  test('write values as JSON would', () => {
    const data = { at: new Date(0), none: undefined, list: [undefined, Number.NaN, () => 1], f: () => 1 };
    const given = { message: { ...request.message, parts: [{ data }] } } as unknown as SendMessageRequest;
    const read = protobufV1_0.decode('sendMessage', protobufClientV1_0.encodeRequest('sendMessage', given));
    deepStrictEqual(read, JSON.parse(JSON.stringify(given)));
  });
});

/** The expected error of the work; undefined: it succeeds. Any other error fails the test. */
function refusal<E extends Error>(work: () => unknown, type: new (...options: never[]) => E): E | undefined {
  try {
    work();
  } catch (error) {
    if (error instanceof type) return error;
    throw error;
  }
  return undefined;
}
