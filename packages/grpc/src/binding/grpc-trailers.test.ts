import type { ErrorCode } from 'parley-a2a';
import { ERROR_CODES } from 'parley-a2a/binding-kit';
import { A2AError } from 'parley-a2a/kit';
import { describe, expect, it } from 'vitest';
import { decodeStatus } from '../protobuf/status.js';
import { GRPC_STATUS, type GrpcStatusName } from './grpc-status.js';
import { errorTrailers, metadataOf } from './grpc-trailers.js';

const current = { version: '1.0' };
const legacy = { version: '0.3' };

const detailsOf = (trailers: Readonly<Record<string, string>>) =>
  decodeStatus(Buffer.from(trailers['grpc-status-details-bin'] ?? '', 'base64'))?.details;

describe('the trailers of an error', () => {
  it('have status, text and details (Spec §10.6)', () => {
    const error = new A2AError('RESOURCE_EXHAUSTED', 'Too fast', { retryAfterMs: 59_999.999_999_7 });
    const trailers = errorTrailers(error, current);
    expect(trailers).toMatchObject({ 'grpc-status': '8', 'grpc-message': 'Too fast' });
    expect(detailsOf(trailers)).toMatchObject([{ reason: 'RESOURCE_EXHAUSTED' }, { retryDelay: '60s' }]);
  });

  it('name the error before 1.0, in the status of that time', () => {
    const error = new A2AError('TASK_NOT_CANCELABLE', 'Task cannot be canceled');
    expect(errorTrailers(error, legacy)).toMatchObject({
      'grpc-status': '12',
      'grpc-message': 'TaskNotCancelableError: Task cannot be canceled',
    });
    expect(errorTrailers(error, current)).toMatchObject({ 'grpc-status': '9' });
  });

  it('can be sent whatever the text is', () => {
    const trailers = errorTrailers(new A2AError('INTERNAL_ERROR', 'größer 100 %\n\ud800'), current);
    expect(trailers['grpc-message']).toBe('gr%C3%B6%C3%9Fer 100 %25%0A%EF%BF%BD');
    const long = errorTrailers(new A2AError('INTERNAL_ERROR', 'x'.repeat(100_000)), current);
    expect(JSON.stringify(long).length).toBeLessThan(10_000);
  });

  it('lack details that no message can hold', () => {
    const error = new A2AError('INTERNAL_ERROR', 'odd', { metadata: { at: 5 as never } });
    const trailers = errorTrailers(error, current);
    expect(trailers).toMatchObject({ 'grpc-status': '13', 'grpc-message': 'odd' });
    expect(detailsOf(trailers)).toEqual([]);
  });
});

/** The status of every error in 1.0 and in 0.3 (Spec §5.4, values of v1.0.1). */
const STATUS: readonly (readonly [ErrorCode, GrpcStatusName, GrpcStatusName])[] = [
  ['TASK_NOT_FOUND', 'NOT_FOUND', 'NOT_FOUND'],
  ['TASK_NOT_CANCELABLE', 'FAILED_PRECONDITION', 'UNIMPLEMENTED'],
  ['PUSH_NOTIFICATION_NOT_SUPPORTED', 'FAILED_PRECONDITION', 'UNIMPLEMENTED'],
  ['UNSUPPORTED_OPERATION', 'FAILED_PRECONDITION', 'UNIMPLEMENTED'],
  ['CONTENT_TYPE_NOT_SUPPORTED', 'INVALID_ARGUMENT', 'UNIMPLEMENTED'],
  ['INVALID_AGENT_RESPONSE', 'INTERNAL', 'INTERNAL'],
  ['EXTENDED_AGENT_CARD_NOT_CONFIGURED', 'FAILED_PRECONDITION', 'UNIMPLEMENTED'],
  // 0.3 has no meaning for these two, so they keep their status.
  ['EXTENSION_SUPPORT_REQUIRED', 'FAILED_PRECONDITION', 'FAILED_PRECONDITION'],
  ['VERSION_NOT_SUPPORTED', 'FAILED_PRECONDITION', 'FAILED_PRECONDITION'],
  ['PARSE_ERROR', 'INVALID_ARGUMENT', 'INVALID_ARGUMENT'],
  ['INVALID_REQUEST', 'INVALID_ARGUMENT', 'INVALID_ARGUMENT'],
  ['METHOD_NOT_FOUND', 'UNIMPLEMENTED', 'UNIMPLEMENTED'],
  ['METHOD_NOT_ALLOWED', 'UNIMPLEMENTED', 'UNIMPLEMENTED'],
  ['INVALID_PARAMS', 'INVALID_ARGUMENT', 'INVALID_ARGUMENT'],
  ['PAYLOAD_TOO_LARGE', 'RESOURCE_EXHAUSTED', 'RESOURCE_EXHAUSTED'],
  ['UNAUTHENTICATED', 'UNAUTHENTICATED', 'UNAUTHENTICATED'],
  ['PERMISSION_DENIED', 'PERMISSION_DENIED', 'PERMISSION_DENIED'],
  ['RESOURCE_EXHAUSTED', 'RESOURCE_EXHAUSTED', 'RESOURCE_EXHAUSTED'],
  ['UNAVAILABLE', 'UNAVAILABLE', 'UNAVAILABLE'],
  ['INTERNAL_ERROR', 'INTERNAL', 'INTERNAL'],
];

describe('the status of an error (Spec §5.4)', () => {
  it('is in the table for every error', () => {
    expect(STATUS.map(([code]) => code)).toEqual(ERROR_CODES);
  });

  it.each(STATUS)('%s is %s in 1.0 and %s in 0.3, with the code as its reason', (code, now, before) => {
    const error = new A2AError(code, 'What happened');
    for (const [voice, name] of [
      [current, now],
      [legacy, before],
    ] as const) {
      const trailers = errorTrailers(error, voice);
      expect(trailers['grpc-status']).toBe(String(GRPC_STATUS[name]));
      expect(detailsOf(trailers)).toMatchObject([{ reason: code }]);
    }
  });
});

it('headers for caches are no metadata', () => {
  expect(metadataOf({ 'cache-control': 'private', 'x-request-id': 'r', vary: 'accept' })).toEqual({
    'x-request-id': 'r',
  });
});
