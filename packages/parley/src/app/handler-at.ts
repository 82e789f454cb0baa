import type { AgentCard, AgentInterface } from '../model/agent-card.js';
import { answersCard, OPERATION_NAMES } from '../operations/operations.js';
import type { RequestHandler } from '../server/request-handler.js';
import type { ServerCallContext } from '../server/server-call-context.js';

type Method = (request: unknown, context: ServerCallContext) => unknown;

/** The same handler; its extended card names the addresses under which the handler is called here. */
export function handlerAt(supportedInterfaces: readonly AgentInterface[], handler: RequestHandler): RequestHandler {
  const methods = OPERATION_NAMES.map((name) => {
    const method = (handler[name] as Method).bind(handler);
    const cardHere: Method = async (request, context) => ({
      ...((await method(request, context)) as AgentCard),
      supportedInterfaces,
    });
    return [name, answersCard(name) ? cardHere : method] as const;
  });
  return Object.fromEntries(methods) as unknown as RequestHandler;
}
