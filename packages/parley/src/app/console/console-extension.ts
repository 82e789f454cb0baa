import type { Exchange, ExchangeRequest, ExchangeResponse } from '../../bindings/http/exchange.js';
import type { Fetch } from '../../bindings/http/http-caller.js';
import { OptionsError } from '../../errors/options-error.js';
import { isLoopback } from '../../net/loopback.js';
import { isLocalHost, type PublicHosts } from '../../net/public-hosts.js';
import { LoadedOnDemand } from '../../runtime/loaded-on-demand.js';
import { isForwarded } from '../forwarded-request.js';
import type { HostExtension } from '../host-extension.js';
import { errorAnswer } from '../json-answer.js';
import type { ConsoleSettings } from '../options/host-options.js';
import { prefersPage } from '../origin.js';
import { consoleEndpoint } from './console-endpoint.js';
import type { ConsoleExchange, ConsoleExchangeOptions } from './console-exchange.js';
import type { ConsolePackage, MakeReceiver } from './console-files.js';

/** The path of the console. Its files are one segment below. */
const CONSOLE_PATH = '/console';

const NOT_HERE: ExchangeResponse = errorAnswer({ status: 404, message: 'Nothing is served here' });

/** The packages of the console, loaded on demand. */
export interface ConsoleParts {
  /** @throws Error if the package of the console is not installed. */
  readonly loadConsole: () => Promise<ConsolePackage>;
  /** Sends requests to the authorization servers of the cards, which the operator has named. */
  readonly fetch: Fetch;
  /** Loads the way to make the webhooks of push inboxes. */
  readonly loadReceiver: () => Promise<MakeReceiver>;
}

/** The names of the host, and the parts of the console. */
export interface ConsoleOptions {
  readonly load: () => Promise<ConsoleParts>;
  /** The option of the host. */
  readonly settings?: boolean | ConsoleSettings | undefined;
  /** The configured base url. Absent: none. */
  readonly publicUrl?: string | undefined;
  readonly isPublicHost?: PublicHosts | undefined;
}

/**
 * The console for browsers, at `/` and at its own path. It loads without a credential: a browser has none before its
 * user signs in. Requests through proxies and for foreign hosts do not get it.
 */
export function consoleExtension(options: ConsoleOptions): HostExtension {
  let served: LoadedOnDemand<ConsoleExchange> | undefined;
  return {
    front: { path: CONSOLE_PATH, takes: (request) => isNavigation(request) && isDirect(request, options) },
    endpoints: (host) => {
      if (host.mounts.some(({ path }) => path === CONSOLE_PATH)) {
        throw new OptionsError('console', [`needs the path ${CONSOLE_PATH}, where an agent is served`]);
      }
      const { exchange, loading } = directConsole({ ...options, host, folder: CONSOLE_PATH });
      served = loading;
      return [consoleEndpoint(CONSOLE_PATH, exchange)];
    },
    // A package that is missing is an error at the start.
    listen: async () => void (await served?.get()),
    stopAccepting: () => served?.loaded?.close(),
  };
}

/** The names of a host, the host, and the path of its console. */
export interface DirectConsoleOptions extends ConsoleOptions, Pick<ConsoleExchangeOptions, 'host' | 'folder'> {}

/** The console of a host, for requests that came directly. All others get 404. It is loaded with the first one. */
export function directConsole({ host, folder, ...options }: DirectConsoleOptions) {
  const loading = new LoadedOnDemand(async () => {
    const { loadConsole, ...parts } = await options.load();
    const { consoleExchange } = await import('./console-exchange.js');
    return consoleExchange({ ...parts, settings: options.settings, host, library: await loadConsole(), folder });
  });
  const exchange: Exchange = async (request) => {
    if (!isDirect(request, options)) return NOT_HERE;
    const loaded = await loading.get().catch((error: Error) => error);
    // A handler behind another host has no start that could fail.
    return loaded instanceof Error ? errorAnswer({ status: 501, message: loaded.message }) : loaded.exchange(request);
  };
  return { exchange, loading };
}

function isDirect(request: ExchangeRequest, { publicUrl, isPublicHost }: ConsoleOptions): boolean {
  if (isForwarded((name) => request.header(name))) return false;
  const host = request.header('host');
  if (host === undefined) return false;
  if (isLocalHost(host)) return true;
  // Only a proxy of this machine names another host over loopback.
  const isFromHere = request.peer === undefined || isLoopback(request.peer);
  const isPublic = isPublicHost?.(host) === true || (publicUrl !== undefined && host === URL.parse(publicUrl)?.host);
  return !isFromHere && isPublic;
}

/** True if a browser with scripts opens a page. Other programs, text browsers among them, send no such header. */
function isNavigation(request: ExchangeRequest): boolean {
  return request.header('sec-fetch-dest') === 'document' && prefersPage(request);
}
