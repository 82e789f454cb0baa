import type { CallOutcome, InterceptedCall } from '../operations/interceptor.js';
import { OPERATION_NAMES, type OperationName } from '../operations/operations.js';
import type { StreamItem } from '../task/stream-item.js';
import { DefaultRequestHandler } from './default-request-handler.js';
import { isolation } from './isolation.js';
import type { ServerCallContext } from './server-call-context.js';

type Method = (
  this: DefaultRequestHandler,
  request: InterceptedCall<ServerCallContext>['request'],
  context: ServerCallContext,
) => CallOutcome<OperationName, StreamItem>;

/**
 * The engine for external code, which may change its requests and the responses. The engine copies both, so that no
 * change reaches the storage or another caller.
 */
export class IsolatedRequestHandler extends DefaultRequestHandler {
  static {
    for (const operation of OPERATION_NAMES) {
      const method = DefaultRequestHandler.prototype[operation] as Method;
      const isolated: Method = function (request, context) {
        return isolation({ operation, request, context }, (call) => method.call(this, call.request, call.context));
      };
      Object.defineProperty(IsolatedRequestHandler.prototype, operation, {
        value: isolated,
        configurable: true,
        writable: true,
      });
    }
  }
}
