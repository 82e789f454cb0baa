import { describe, expect, it } from 'vitest';
import { A2AError } from '../errors/a2a-error.js';
import { PermissionDeniedError, UnauthenticatedError } from '../errors/standard-errors.js';
import { challengeHeaders } from './challenge.js';

const usual = ['Basic'];

describe('the challenge of a refused call (Spec §3.3.2)', () => {
  it('is the one of the error', () => {
    const error = new UnauthenticatedError(['Bearer realm="a"', 'ApiKey']);
    expect(challengeHeaders(error, usual)).toEqual({ 'www-authenticate': 'Bearer realm="a", ApiKey' });
  });

  it('is the one of the authenticator where the error has none', () => {
    const expected = { 'www-authenticate': 'Basic' };
    expect(challengeHeaders(new UnauthenticatedError([]), usual)).toEqual(expected);
    expect(challengeHeaders(new A2AError('UNAUTHENTICATED', 'Who?'), usual)).toEqual(expected);
  });

  it('names the missing scope of a caller who is known (Spec §3.3.2)', () => {
    const challenge = 'Bearer error="insufficient_scope", scope="write"';
    const error = new PermissionDeniedError('This takes the scope write', [challenge]);
    expect(challengeHeaders(error, usual)).toEqual({ 'www-authenticate': challenge });
    expect(challengeHeaders(new PermissionDeniedError('No'), usual)).toEqual({});
  });

  it('is left out where nobody knows one, and for other errors', () => {
    expect(challengeHeaders(new UnauthenticatedError([]))).toEqual({});
    expect(challengeHeaders(new A2AError('PERMISSION_DENIED', 'No'), usual)).toEqual({});
  });
});
