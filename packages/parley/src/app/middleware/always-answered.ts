import type { Exchange } from '../../bindings/http/exchange.js';
import type { Logger } from '../../telemetry/logger.js';
import { errorAnswer } from '../json-answer.js';

/** An exchange around one that may reject. It logs the error, and answers 500 without details. */
export function answerAlways(exchange: Exchange, logger: Logger): Exchange {
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
