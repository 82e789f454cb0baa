import type { AgentInterface } from '../model/agent-card.js';
import { OPERATIONS, type OperationName } from '../operations/operations.js';
import type { RequestHandler } from '../server/request-handler.js';

/** The same handler, whose extended card shows the addresses under which it is asked here. */
export function handlerAt(supportedInterfaces: readonly AgentInterface[], handler: RequestHandler): RequestHandler {
  const bound: Partial<Record<OperationName, unknown>> = {};
  for (const name of Object.keys(OPERATIONS) as OperationName[]) bound[name] = handler[name].bind(handler);
  return {
    ...(bound as unknown as RequestHandler),
    async getExtendedAgentCard(request, context) {
      return { ...(await handler.getExtendedAgentCard(request, context)), supportedInterfaces };
    },
  };
}
