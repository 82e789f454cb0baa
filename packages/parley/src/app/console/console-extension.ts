import type { Exchange, ExchangeRequest, ExchangeResponse } from '../../bindings/http/exchange.js';
import type { Fetch } from '../../bindings/http/http-caller.js';
import { OptionsError } from '../../errors/options-error.js';
import { isLoopback } from '../../net/loopback.js';
import { isLocalHost, type PublicHosts } from '../../net/public-hosts.js';
import { LoadedOnDemand } from '../../runtime/loaded-on-demand.js';
import { isForwarded } from '../forwarded-request.js';
import type { HostExtension } from '../host-extension.js';
import { errorAnswer } from '../json-answer.js';
import { prefersPage } from '../origin.js';
import type { ConsoleExchange } from './console-exchange.js';
import type { ConsolePackage, MakeReceiver } from './console-files.js';

/** The path of the console. Its files are one segment below. */
const CONSOLE_PATH = '/console';

const NOT_HERE: ExchangeResponse = errorAnswer({ status: 404, message: 'Nothing is served here' });

/** The names of the host, and the package of the console. */
export interface ConsoleOptions {
  /** @throws Error if the package of the console is not installed. */
  readonly load: () => Promise<ConsolePackage>;
  /** Sends requests to the authorization servers of the cards, which the operator has named. */
  readonly fetch: Fetch;
  /** Loads the way to make the webhooks of push inboxes. */
  readonly loadReceiver: () => Promise<MakeReceiver>;
  /** The url of a trace in a tracing tool, with `{traceId}`. Absent: pages show ids alone. */
  readonly traceUrl?: string | undefined;
  /** The configured base url. Absent: none. */
  readonly publicUrl?: string | undefined;
  readonly isPublicHost?: PublicHosts | undefined;
}

/**
 * The console for browsers, at `/` and at its own path. It loads without a credential: a browser has none before its
 * user signs in. Requests through proxies and for foreign hosts do not get it.
 */
export function consoleExtension(options: ConsoleOptions): HostExtension {
  const { publicUrl, isPublicHost } = options;
  let served: LoadedOnDemand<ConsoleExchange> | undefined;
  const publicHost = publicUrl === undefined ? undefined : URL.parse(publicUrl)?.host;
  const isDirect = (request: ExchangeRequest): boolean => {
    if (isForwarded((name) => request.header(name))) return false;
    const host = request.header('host');
    if (host === undefined) return false;
    if (isLocalHost(host)) return true;
    // Only a proxy of this machine names another host over loopback.
    const isFromHere = request.peer === undefined || isLoopback(request.peer);
    return !isFromHere && (host === publicHost || isPublicHost?.(host) === true);
  };
  return {
    front: { path: CONSOLE_PATH, takes: (request) => isNavigation(request) && isDirect(request) },
    endpoints: (host) => {
      if (host.mounts.some(({ path }) => path === CONSOLE_PATH)) {
        throw new OptionsError('console', [`needs the path ${CONSOLE_PATH}, where an agent is served`]);
      }
      const loading = new LoadedOnDemand(async () => {
        const library = await options.load();
        const { consoleExchange } = await import('./console-exchange.js');
        return consoleExchange({ ...options, host, library, folder: CONSOLE_PATH });
      });
      served = loading;
      const exchange: Exchange = async (request) =>
        isDirect(request) ? (await loading.get()).exchange(request) : NOT_HERE;
      return [{ path: CONSOLE_PATH, items: /^[\w.-]+$/, exchange, access: 'open', without: ['start'] }];
    },
    // A package that is missing is an error at the start.
    listen: async () => void (await served?.get()),
    stopAccepting: () => served?.loaded?.close(),
  };
}

/** True if a browser with scripts opens a page. Other programs, text browsers among them, send no such header. */
function isNavigation(request: ExchangeRequest): boolean {
  return request.header('sec-fetch-dest') === 'document' && prefersPage(request);
}
