import { type JsonRpcDialect, SPECIFIED } from '../../bindings/jsonrpc/jsonrpc-dialect.js';
import type { Clock } from '../../runtime/clock.js';

/** The status and the data of errors of the JSON-RPC endpoints of a base server. */
export function baseServerErrors(clock: Clock): Required<Pick<JsonRpcDialect, 'httpStatus' | 'errorData'>> {
  return {
    httpStatus: (code) => (code === 'INTERNAL_ERROR' || code === 'UNAVAILABLE' ? 500 : SPECIFIED.httpStatus(code)),
    errorData: (error, taskId = error.details.metadata?.taskId) => ({
      ...(taskId !== undefined && { taskId }),
      timestamp: new Date(clock.now()).toISOString(),
    }),
  };
}
