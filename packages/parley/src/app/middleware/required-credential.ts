import { type Authenticator, authenticatedUser } from '../../auth/authenticator.js';
import { challengeHeaders } from '../../auth/challenge.js';
import type { ExchangeRequest, ExchangeResponse } from '../../bindings/http/exchange.js';
import { httpStatus } from '../../bindings/http-json/errors.js';
import { A2AError } from '../../errors/a2a-error.js';
import { UnauthenticatedError } from '../../errors/standard-errors.js';
import { errorAnswer } from '../json-answer.js';

/**
 * Refuses a caller without a valid credential, telling how to authenticate (Spec §3.3.2); `undefined` for one whom the
 * authenticator knows. An `A2AError` that it throws is the answer; whatever else it throws rejects.
 */
export async function refuseWithoutCredential(
  request: ExchangeRequest,
  authenticator: Authenticator,
): Promise<ExchangeResponse | undefined> {
  const error = await refusalOf(request, authenticator);
  if (error === undefined) return undefined;
  const headers = challengeHeaders(error, authenticator);
  return errorAnswer({ status: httpStatus(error.code), message: error.message, headers });
}

async function refusalOf(request: ExchangeRequest, authenticator: Authenticator): Promise<A2AError | undefined> {
  try {
    const user = await authenticatedUser(authenticator, request);
    return user ? undefined : new UnauthenticatedError(authenticator.challenges);
  } catch (error) {
    if (error instanceof A2AError) return error;
    throw error;
  }
}
