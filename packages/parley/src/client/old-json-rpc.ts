import type { ClientCodec } from '../codec/client-codec.js';
import type { AgentInterface } from '../model/agent-card.js';
import type { ClientTransport } from './client-transport.js';
import { methodsAndRoutes } from './methods-and-routes.js';

/** A JSON-RPC interface of a version before 1.0, with the transports for its URLs. */
interface OldJsonRpc {
  readonly agentInterface: AgentInterface;
  readonly codec: ClientCodec;
  readonly methodsAt: (url: string) => ClientTransport;
  readonly routesAt: (url: string) => ClientTransport;
}

/**
 * Calls an interface by its methods, and by routes below its folder. Servers of the base-server interface have two URLs
 * for methods.
 */
export function oldJsonRpc({ agentInterface: { url }, codec, methodsAt, routesAt }: OldJsonRpc): ClientTransport {
  const isBaseServer = url.endsWith('/communicate');
  const methods = isBaseServer
    ? baseServerMethods(methodsAt(url), methodsAt(new URL('delegate', url).href))
    : methodsAt(url);
  return methodsAndRoutes({ codec, methods, routes: routesAt(new URL('.', url).href) });
}

/** `POST /communicate` takes messages, `POST /delegate` tasks and their webhooks. */
function baseServerMethods(communicate: ClientTransport, delegate: ClientTransport): ClientTransport {
  return {
    agentInterface: communicate.agentInterface,
    call: (call) => ('message' in call.request ? communicate.call(call) : delegate.call(call)),
    stream: (call) => ('message' in call.request ? communicate.stream(call) : delegate.stream(call)),
  };
}
