import type { ClientCodec } from '../codec/client-codec.js';
import { A2AError } from '../errors/a2a-error.js';
import type { AgentInterface } from '../model/agent-card.js';
import type { ClientTransport } from './client-transport.js';
import { methodsAndRoutes } from './methods-and-routes.js';

/** A JSON-RPC interface of a version before 1.0, with the transports for its URLs. */
export interface OldJsonRpc {
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
    call: (call) => ('message' in call.request ? communicate.call(call).catch(noEndpoint) : delegate.call(call)),
    stream: (call) => ('message' in call.request ? communicate.stream(call).catch(noEndpoint) : delegate.stream(call)),
  };
}

/**
 * Turns a missing endpoint into an error that makes the client try the next interface. Only the name of the document
 * suggested a base server.
 */
function noEndpoint(error: unknown): never {
  if (!(error instanceof A2AError) || error.code !== 'METHOD_NOT_FOUND') throw error;
  const message = `The server has no endpoint of the base-server interface: ${error.message}`;
  throw new A2AError('VERSION_NOT_SUPPORTED', message, {}, { cause: error });
}
