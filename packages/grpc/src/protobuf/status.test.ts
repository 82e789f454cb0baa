import {
  create,
  createRegistry,
  fromBinary,
  fromJson,
  type JsonObject,
  type Registry,
  toBinary,
  toJson,
} from '@bufbuild/protobuf';
import { AnySchema, file_google_protobuf_any } from '@bufbuild/protobuf/wkt';
import { describe, expect, it } from 'vitest';
import { googleRpcErrorDetails, googleRpcStatus } from './descriptors.generated.js';
import { decodeStatus, encodeStatus } from './status.js';

const TYPE = 'type.googleapis.com/google.rpc.';
const registry: Registry = createRegistry(googleRpcStatus, googleRpcErrorDetails, file_google_protobuf_any);
const schema = googleRpcStatus.messages[0];
if (schema === undefined) throw new Error('no google.rpc.Status');

const status = {
  code: 3,
  message: 'Invalid parameters – ü',
  details: [
    { '@type': `${TYPE}ErrorInfo`, reason: 'INVALID_PARAMS', domain: 'a2a-protocol.org', metadata: { a: 'b' } },
    { '@type': `${TYPE}BadRequest`, fieldViolations: [{ field: 'message.parts', description: 'must not be empty' }] },
    { '@type': `${TYPE}RetryInfo`, retryDelay: '1.500s' },
  ],
};

describe('the status of an error (Spec §10.6)', () => {
  it('is a google.rpc.Status with packed details', () => {
    const bytes = encodeStatus(status);
    expect(toJson(schema, fromBinary(schema, bytes), { registry })).toEqual(status);
    expect(decodeStatus(bytes)).toEqual(status);
  });

  it('is read although details are unknown or malformed', () => {
    const bytes = toBinary(schema, fromJson(schema, { code: 5, message: 'no', details: [] }));
    const pack = (name: string, ...value: readonly number[]) => {
      const any = toBinary(AnySchema, create(AnySchema, { typeUrl: `${TYPE}${name}`, value: Uint8Array.from(value) }));
      return Buffer.concat([Buffer.from([0x1a, any.length]), any]);
    };
    expect(decodeStatus(Buffer.concat([bytes, pack('Help', 0xff), pack('ErrorInfo', 0x0a, 0x7f)]))).toEqual({
      code: 5,
      message: 'no',
      details: [{ '@type': `${TYPE}Help` }, { '@type': `${TYPE}ErrorInfo` }],
    });
  });

  it('is undefined for bytes that are no status', () => {
    for (const bytes of [[0x0a], [0xff, 0xff], [0x1a, 0x7f, 0x00]]) {
      expect(decodeStatus(Uint8Array.from(bytes))).toBeUndefined();
    }
  });

  it('fits into the trailers that clients take by default: it loses violations, and keeps its reason', () => {
    const violation = (at: number) => ({
      field: `message.parts[${at}].${'x'.repeat(100)}`,
      description: 'must be base64',
    });
    const fieldViolations = Array.from({ length: 50 }, (_, at) => violation(at));
    const [info] = status.details;
    const bytes = encodeStatus({
      code: 3,
      message: 'm'.repeat(10_000),
      details: [info as JsonObject, { '@type': `${TYPE}BadRequest`, fieldViolations }] as never,
    });
    expect(bytes.length).toBeLessThan(4096);
    const [first, second] = decodeStatus(bytes)?.details ?? [];
    expect(first).toEqual(info);
    expect(Object.keys(second?.fieldViolations ?? {}).length).toBeGreaterThan(5);
  });

  it('is written whatever the texts of the error are', () => {
    const violation = { field: 'a\ud800', description: '\udc00' };
    const details = [
      {
        '@type': `${TYPE}ErrorInfo`,
        reason: 'INVALID_PARAMS',
        domain: 'a2a-protocol.org',
        metadata: { '\ud800': '\ud800' },
      },
      { '@type': `${TYPE}BadRequest`, fieldViolations: [violation] },
      { '@type': `${TYPE}RetryInfo`, retryDelay: 'soon' },
    ];
    const read = decodeStatus(encodeStatus({ code: 3, message: `${'x'.repeat(1023)}😀`, details }));
    expect(read?.message).toBe(`${'x'.repeat(1023)}\uFFFD`);
    expect(read?.details[0]).toMatchObject({ reason: 'INVALID_PARAMS', metadata: { '\uFFFD': '\uFFFD' } });
    expect(read?.details[1]).toMatchObject({ fieldViolations: [{ field: 'a\uFFFD', description: '\uFFFD' }] });
    expect(read?.details).toHaveLength(2);
  });
});
