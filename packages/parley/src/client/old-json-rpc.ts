import type { ClientCodec } from '../codec/client-codec.js';
import { A2AError } from '../errors/a2a-error.js';
import type { AgentInterface } from '../model/agent-card.js';
import type { ClientTransport } from './client-transport.js';

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

/** An interface with two ways to call it. */
interface MethodsAndRoutes {
  readonly codec: ClientCodec;
  /** Calls by JSON-RPC methods. */
  readonly methods: ClientTransport;
  /** Calls by HTTP routes. */
  readonly routes: ClientTransport;
}

/**
 * Calls by method if the version has one, and by route otherwise. If the agent does not know the method, the route is
 * tried too. 0.2.5 serves the extended card to a GET, and some of its cards do not name that version.
 */
function methodsAndRoutes({ codec, methods, routes }: MethodsAndRoutes): ClientTransport {
  return {
    agentInterface: methods.agentInterface,
    stream: (call) => methods.stream(call),
    call: async (call) => {
      if (codec.routesOf(call.operation).length === 0) return methods.call(call);
      if (codec.methodOf(call.operation) === undefined) return routes.call(call);
      try {
        return await methods.call(call);
      } catch (error) {
        if (!hasCode(error, UNKNOWN_METHOD)) throw error;
        return await routes.call(call).catch((other: unknown) => {
          throw hasCode(other, REFUSED) ? other : error;
        });
      }
    },
  };
}

/** Answers to a method that the agent does not know. */
const UNKNOWN_METHOD = ['METHOD_NOT_FOUND', 'INVALID_REQUEST'];
const REFUSED = ['UNAUTHENTICATED', 'PERMISSION_DENIED'];

function hasCode(error: unknown, codes: readonly string[]): boolean {
  return error instanceof A2AError && codes.includes(error.code);
}
