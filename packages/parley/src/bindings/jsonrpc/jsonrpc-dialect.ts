import type { A2AError, ErrorCode } from '../../errors/a2a-error.js';
import { askedVersion } from '../http/call-context.js';
import type { ExchangeRequest } from '../http/exchange.js';
import { httpStatus } from './errors.js';

/** The differences of an interface that is older than the specification. */
export interface JsonRpcDialect {
  /** The version that a request names; `undefined` if it names none, or if the interface has only one. */
  askedVersion(request: ExchangeRequest): string | undefined;
  /** The message for a method that the interface does not serve. */
  methodNotFound(method: string): string;
  /** The HTTP status of a failed call. */
  httpStatus(code: ErrorCode): number;
  /** The data of an error about a task, if one is known. Absent: the details of the specification. */
  errorData?(error: A2AError, taskId: string | undefined): unknown;
}

/** The binding of the specification. */
export const SPECIFIED: JsonRpcDialect = {
  askedVersion,
  methodNotFound: () => 'Method not found',
  httpStatus,
};
