import type { Exchange } from '../../bindings/http/exchange.js';
import type { Logger } from '../../telemetry/logger.js';
import { errorAnswer } from '../json-answer.js';

/** An exchange of what may reject: that is told to the log, and to the caller only that it happened (500). */
export function alwaysAnswered(exchange: Exchange, logger: Logger): Exchange {
  return async (request) => {
    try {
      return await exchange(request);
    } catch (error) {
      const { method, path } = request;
      logger.error('A request could not be answered', { error, method, path });
      return errorAnswer({ status: 500, message: 'Internal error' });
    }
  };
}
