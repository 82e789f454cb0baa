import { isFromOtherSite } from '../../auth/cross-site.js';
import type { Exchange } from '../../bindings/http/exchange.js';
import type { Fetch } from '../../bindings/http/http-caller.js';
import type { HostView } from '../host-extension.js';
import { errorAnswer } from '../json-answer.js';
import { taking } from '../middleware/method-filter.js';
import type { ConsolePackage } from './console-files.js';

const MOST_BYTES = 64 * 1024;

/** Answers the page's requests for tokens. Pages of other sites and forms cannot send them. */
export function oauthExchange({ oauthRelay }: ConsolePackage, host: HostView, fetch: Fetch): Exchange {
  const relay = oauthRelay({ cards: () => host.mounts.map((mount) => mount.card('')), fetch });
  return taking({ methods: ['POST'], message: 'This takes requests for tokens only' }, async (request) => {
    const type = request.header('content-type') ?? '';
    if (isFromOtherSite((name) => request.header(name)) === true || !type.startsWith('application/json')) {
      return errorAnswer({ status: 403, message: 'Only the console may ask for tokens here' });
    }
    const body = await request.body(MOST_BYTES);
    return relay(new TextDecoder().decode(body));
  });
}
