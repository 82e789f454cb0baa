import type { Exchange } from '../../bindings/http/exchange.js';
import type { DescribedHost } from './host-description.js';

/** The paths of `hostDescription`. */
const PATHS = ['/openapi.json', '/openapi-3.0.json', '/docs'] as const;

/** The description of a host, by path. The first request loads the code that makes it: a fifth of a server's code. */
export function descriptionOnDemand(host: DescribedHost): ReadonlyMap<string, Exchange> {
  let loading: Promise<ReadonlyMap<string, Exchange>> | undefined;
  const load = async () => {
    const { hostDescription } = await import('./host-description.js');
    return hostDescription(host);
  };
  const loaded = (path: string): Exchange => {
    return async (request) => {
      loading ??= load();
      const exchange = (await loading).get(path);
      if (exchange === undefined) throw new TypeError(`There is no description at ${path}`);
      return exchange(request);
    };
  };
  return new Map(PATHS.map((path) => [path, loaded(path)]));
}
