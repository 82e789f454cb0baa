import type { Exchange } from '../../bindings/http/exchange.js';
import type { HostEndpoint } from '../host-extension.js';

/** The endpoint of a console. Its files are one segment below its path. */
export function consoleEndpoint(path: string, exchange: Exchange): HostEndpoint {
  return { path, items: /^[\w.-]+$/, exchange, access: 'open', without: ['start'] };
}
