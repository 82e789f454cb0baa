import type { Authenticator } from '../../auth/authenticator.js';
import type { ExchangeRequest, ExchangeResponse } from '../../bindings/http/exchange.js';
import { isLoopback } from '../../net/loopback.js';
import { errorAnswer } from '../json-answer.js';
import { refuseWithoutCredential } from '../middleware/required-credential.js';

/** What a proxy adds, and a browser: then the peer's address says nothing of who really calls. */
const FOREIGN = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via', 'origin'];

const NOT_FROM_HERE = errorAnswer({
  status: 403,
  message: 'Without authentication only programs on the machine of this server may do this',
});

/**
 * Refuses a caller who may not change the cache; `undefined` for one who may. With an authenticator that takes a credential;
 * without one only programs on this machine may, and no page of a browser.
 */
export async function refuseCacheChange(
  request: ExchangeRequest,
  authenticator: Authenticator | undefined,
): Promise<ExchangeResponse | undefined> {
  if (authenticator === undefined) {
    const isLocal = request.peer !== undefined && isLoopback(request.peer);
    return isLocal && FOREIGN.every((name) => request.header(name) === undefined) ? undefined : NOT_FROM_HERE;
  }
  return refuseWithoutCredential(request, authenticator);
}
