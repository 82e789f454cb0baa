import type { Exchange } from '../../bindings/http/exchange.js';
import { LoadedOnDemand } from '../../runtime/loaded-on-demand.js';
import type { HostExtension, HostView } from '../host-extension.js';
import type { MiddlewareName } from '../middleware/request-way.js';

/** The paths of `hostDescription`. */
const PATHS = ['/openapi.json', '/openapi-3.0.json', '/docs'] as const;

/** A description needs no agent that runs. */
const WITHOUT: readonly MiddlewareName[] = ['start'];

/** The description of a host. The first request loads the code that makes it: a fifth of the code of a server. */
export const openApiExtension: HostExtension = {
  endpoints: (host) => {
    const exchanges = new LoadedOnDemand(() => exchangesOf(host));
    return PATHS.map((path) => ({
      path,
      without: WITHOUT,
      exchange: async (request) => {
        const exchange = (await exchanges.get()).get(path);
        if (exchange === undefined) throw new TypeError(`There is no description at ${path}`);
        return exchange(request);
      },
    }));
  },
};

async function exchangesOf(host: HostView): Promise<ReadonlyMap<string, Exchange>> {
  const { hostDescription } = await import('./host-description.js');
  return hostDescription(host);
}
