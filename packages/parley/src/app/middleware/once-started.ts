import type { Exchange, ExchangeRequest, ExchangeResponse } from '../../bindings/http/exchange.js';
import type { Logger } from '../../telemetry/logger.js';
import { errorAnswer } from '../json-answer.js';

/** The start of the agents of a host. */
export interface StartOptions {
  /** True once the agents take messages. */
  readonly isStarted: boolean;
  /** Starts the agents, or joins the start under way. Rejects if an agent cannot start. */
  readonly start: () => Promise<void>;
  readonly logger: Logger;
}

const NOT_STARTED = errorAnswer({
  status: 503,
  message: 'The agents cannot be reached now',
  headers: { 'retry-after': '5' },
});

/** The exchange once the agents have started. If they cannot start, the client gets 503 and may try again. */
export function waitForStart(exchange: Exchange, options: StartOptions): Exchange {
  const startFirst = async (request: ExchangeRequest): Promise<ExchangeResponse> => {
    try {
      await options.start();
    } catch (error) {
      options.logger.error('The agents could not be started', { error });
      return NOT_STARTED;
    }
    return exchange(request);
  };
  return (request) => (options.isStarted ? exchange(request) : startFirst(request));
}
