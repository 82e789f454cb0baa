import type { Exchange } from '../../bindings/http/exchange.js';

/**
 * An exchange whose code is loaded by its first request, so that a server does not load what it does not use. If that
 * fails, the request fails, and the next one tries again.
 */
export function onDemand(load: () => Promise<Exchange>): Exchange {
  let loaded: Exchange | undefined;
  let loading: Promise<Exchange> | undefined;
  const first: Exchange = async (request) => {
    loading ??= load();
    try {
      loaded = await loading;
    } catch (error) {
      loading = undefined;
      throw error;
    }
    return loaded(request);
  };
  return (request) => (loaded ?? first)(request);
}
