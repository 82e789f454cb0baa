import type { A2AError, ErrorCode } from '../../errors/a2a-error.js';
import { askedVersion } from '../http/call-context.js';
import type { ExchangeRequest } from '../http/exchange.js';
import { httpStatus } from './errors.js';

/** What an interface that is older than the specification has otherwise. */
export interface JsonRpcDialect {
  /** The version that a request names; `undefined` where it names none, or is not asked. */
  askedVersion(request: ExchangeRequest): string | undefined;
  /** What a caller is told who uses a method that is not served here. */
  methodNotFound(method: string): string;
  /** The HTTP status of a call that failed. */
  httpStatus(code: ErrorCode): number;
  /** What goes with an error about a task, where one is known; absent: the details of the specification. */
  errorData?(error: A2AError, taskId: string | undefined): unknown;
}

/** The binding as the specification has it. */
export const SPECIFIED: JsonRpcDialect = {
  askedVersion,
  methodNotFound: () => 'Method not found',
  httpStatus,
};
