import { isFromOtherSite } from '../../auth/cross-site.js';
import type { Exchange, ExchangeRequest } from '../../bindings/http/exchange.js';
import { errorAnswer } from '../json-answer.js';
import { taking } from '../middleware/method-filter.js';
import type { ConsoleAnswer, PushInboxes } from './console-files.js';

const MOST_BYTES = 64 * 1024;

/** Answers JSON of the page. Pages of other sites and forms cannot send it. `origin`: that of the page. */
export function pageExchange(answer: (text: string, origin: string) => Promise<ConsoleAnswer>): Exchange {
  return taking({ methods: ['POST'], message: 'This takes requests of the console only' }, async (request) => {
    const type = request.header('content-type') ?? '';
    if (isFromOtherSite((name) => request.header(name)) === true || !type.startsWith('application/json')) {
      return errorAnswer({ status: 403, message: 'Only the console may ask here' });
    }
    const body = await request.body(MOST_BYTES);
    return answer(new TextDecoder().decode(body), request.header('origin') ?? '');
  });
}

/** Gives a push notification to the inbox of a name. */
export function takeNotification(inboxes: PushInboxes, name: string, request: ExchangeRequest): Promise<ConsoleAnswer> {
  const { method } = request;
  return inboxes.take(name, { method, header: (field) => request.header(field), body: bodyOf(request) });
}

async function* bodyOf(request: ExchangeRequest): AsyncGenerator<Uint8Array> {
  yield await request.body(MOST_NOTIFICATION);
}

/** The inbox itself takes less. */
const MOST_NOTIFICATION = 16 * 1024 * 1024;
