import type { ClientCodec } from '../codec/client-codec.js';
import { A2AError } from '../errors/a2a-error.js';
import type { ClientTransport } from './client-transport.js';

/** An interface that is called in two ways. */
export interface MethodsAndRoutes {
  readonly codec: ClientCodec;
  /** By the methods of the version. */
  readonly methods: ClientTransport;
  /** By its routes. */
  readonly routes: ClientTransport;
}

/**
 * Calls by methods what the version has methods for, and by routes what else it has, or what the agent turns out to know no method for:
 * 0.2.5 gives the extended card to a GET, and some of its cards do not say that they are of that version.
 */
export function methodsAndRoutes({ codec, methods, routes }: MethodsAndRoutes): ClientTransport {
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

/** How agents answer a method that they do not know. */
const UNKNOWN_METHOD = ['METHOD_NOT_FOUND', 'INVALID_REQUEST'];
const REFUSED = ['UNAUTHENTICATED', 'PERMISSION_DENIED'];

function hasCode(error: unknown, codes: readonly string[]): boolean {
  return error instanceof A2AError && codes.includes(error.code);
}
