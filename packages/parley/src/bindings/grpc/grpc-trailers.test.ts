import { describe, expect, it } from 'vitest';
import { decodeStatus } from '../../codec/protobuf/status.js';
import { A2AError } from '../../errors/a2a-error.js';
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

it('headers for caches are no metadata', () => {
  expect(metadataOf({ 'cache-control': 'private', 'x-request-id': 'r', vary: 'accept' })).toEqual({
    'x-request-id': 'r',
  });
});
