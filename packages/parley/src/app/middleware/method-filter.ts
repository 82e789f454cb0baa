import type { Exchange, ExchangeResponse } from '../../bindings/http/exchange.js';
import { errorAnswer } from '../json-answer.js';

/** The methods of an exchange, and the message for all other methods. */
interface MethodFilter {
  /** In upper case, without OPTIONS. */
  readonly methods: readonly string[];
  readonly message: string;
}

/** The methods for reading. */
export const READ_METHODS = ['GET', 'HEAD'];

/** The same exchange for these methods only: OPTIONS tells which they are, any other is refused (405). */
export function taking(filter: MethodFilter, exchange: Exchange): Exchange {
  return (request) =>
    filter.methods.includes(request.method) ? exchange(request) : Promise.resolve(otherMethod(request.method, filter));
}

/** An exchange for what can only be read. */
export function readOnly(exchange: Exchange): Exchange {
  return taking({ methods: READ_METHODS, message: 'This can only be read' }, exchange);
}

/** The answer to a method that is none of these. */
export function otherMethod(method: string, { methods, message }: MethodFilter): ExchangeResponse {
  const headers = { allow: [...methods, 'OPTIONS'].join(', ') };
  return method === 'OPTIONS' ? { status: 204, headers } : errorAnswer({ status: 405, message, headers });
}
