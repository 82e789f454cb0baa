import type { HostExtension } from '../../../../packages/parley/src/app/host-extension.js';
import type { ClientBinding } from '../../../../packages/parley/src/client/client-transport.js';
import { linesExtension } from '../app/lines-extension.js';
import { LINES } from '../bindings/lines/lines-exchange.js';
import { LinesTransport } from '../bindings/lines/lines-transport.js';

/** Serves the agents of a server in lines. */
export function linesBinding(): HostExtension {
  return linesExtension;
}

/** The client's half. */
export function linesTransport(): ClientBinding {
  return {
    speaks: ({ protocolBinding }) => protocolBinding === LINES,
    transport: async (agentInterface) => new LinesTransport(agentInterface, (url, init) => fetch(url, init)),
  };
}
