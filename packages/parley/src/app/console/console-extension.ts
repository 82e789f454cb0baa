import type { Exchange, ExchangeRequest, ExchangeResponse } from '../../bindings/http/exchange.js';
import type { Fetch } from '../../bindings/http/http-caller.js';
import { OptionsError } from '../../errors/options-error.js';
import { isLoopback } from '../../net/loopback.js';
import { isLocalHost, type PublicHosts } from '../../net/public-hosts.js';
import { LoadedOnDemand } from '../../runtime/loaded-on-demand.js';
import { isForwarded } from '../forwarded-request.js';
import type { HostExtension, HostView } from '../host-extension.js';
import { errorAnswer, jsonAnswer } from '../json-answer.js';
import { KEY_SET_PATH } from '../key-set-extension.js';
import { readOnly } from '../middleware/method-filter.js';
import { prefersPage } from '../origin.js';
import type { ConsoleFiles, ConsolePackage, MakeReceiver } from './console-files.js';

/** The path of the console. Its files are one segment below. */
export const CONSOLE_PATH = '/console';

/** The cards of the agents of the host. */
const AGENTS_FILE = 'agents.json';
/** The endpoint for requests to the authorization servers of the cards. */
const OAUTH_FILE = 'oauth';
/** The endpoint of the page for its push inboxes. Those for agents have a name behind it. */
const INBOX_FILE = 'inbox';
const INBOX = /^\/console\/inbox-([\w-]+)$/;

/** A path of the operator API, if the host has that. */
const OPERATOR_API = '/operator/v1/status';

const NOT_HERE: ExchangeResponse = errorAnswer({ status: 404, message: 'Nothing is served here' });

/** The names of the host, and the files of the console. */
export interface ConsoleOptions {
  /** @throws Error if the package of the console is not installed. */
  readonly load: () => Promise<ConsolePackage>;
  /** Sends requests to the authorization servers of the cards, which the operator has named. */
  readonly fetch: Fetch;
  /** Makes the webhooks of push inboxes. */
  readonly receiver: MakeReceiver;
  /** The configured base url. Absent: none. */
  readonly publicUrl?: string | undefined;
  readonly isPublicHost?: PublicHosts | undefined;
}

/**
 * The console for browsers, at `/` and at its own path. It loads without a credential: a browser has none before its
 * user signs in. Requests through proxies and for foreign hosts do not get it.
 */
export function consoleExtension({ load, fetch, receiver, publicUrl, isPublicHost }: ConsoleOptions): HostExtension {
  const loaded = new LoadedOnDemand(load);
  const files = new LoadedOnDemand(async () => (await loaded.get()).consoleFiles());
  let stopInboxes = (): void => {};
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
      const read = readOnly(consoleExchange(files, host));
      const relayed = new LoadedOnDemand(async () => {
        const relay = (await loaded.get()).oauthRelay({
          cards: () => host.mounts.map((mount) => mount.card('')),
          fetch,
        });
        return (await import('./page-requests.js')).pageExchange(relay);
      });
      const inboxExchange = new LoadedOnDemand(async () => {
        const { pageExchange, takeNotification } = await import('./page-requests.js');
        const keysUrl = (_agent: string, origin: string) => `${origin}${KEY_SET_PATH}`;
        const opened = new (await loaded.get()).PushInboxes({ receiver, keysUrl });
        stopInboxes = () => opened.close();
        const ask = pageExchange((text, origin) => opened.ask(text, origin));
        return (request: ExchangeRequest, name: string | undefined) =>
          name === undefined ? ask(request) : takeNotification(opened, name, request);
      });
      const exchange: Exchange = async (request) => {
        if (!isDirect(request)) return NOT_HERE;
        const { path } = request;
        const [, inbox] = INBOX.exec(path) ?? [];
        if (path === `${CONSOLE_PATH}/${OAUTH_FILE}`) return (await relayed.get())(request);
        if (inbox === undefined && path !== `${CONSOLE_PATH}/${INBOX_FILE}`) return read(request);
        // Inboxes take what other programs of this machine send. Other machines have no use for them.
        return isOfThisMachine(request) ? (await inboxExchange.get())(request, inbox) : NOT_HERE;
      };
      return [{ path: CONSOLE_PATH, items: /^[\w.-]+$/, exchange, access: 'open', without: ['start'] }];
    },
    // A package that is missing is an error at the start.
    listen: async () => void (await files.get()),
    stopAccepting: () => stopInboxes(),
  };
}

function isOfThisMachine(request: ExchangeRequest): boolean {
  return isLocalHost(request.header('host') ?? '') && (request.peer === undefined || isLoopback(request.peer));
}

/** True if a browser with scripts opens a page. Other programs, text browsers among them, send no such header. */
function isNavigation(request: ExchangeRequest): boolean {
  return request.header('sec-fetch-dest') === 'document' && prefersPage(request);
}

function consoleExchange(loaded: LoadedOnDemand<ConsoleFiles>, host: HostView): Exchange {
  const agents = () =>
    jsonAnswer({
      status: 200,
      value: {
        agents: host.mounts.map(({ path, cardPath }) => ({ path, card: cardPath })),
        ...(host.serves(OPERATOR_API) && { operator: true }),
      },
      headers: { 'cache-control': 'no-cache' },
    });
  return async (request) => {
    const { path } = request;
    if (path === '/' || path === CONSOLE_PATH) {
      const { consolePage } = await import('./console-page.js');
      return consolePage({ files: await loaded.get(), host, base: host.baseUrl(request), folder: CONSOLE_PATH });
    }
    const name = path.slice(CONSOLE_PATH.length + 1);
    if (name === AGENTS_FILE) return agents();
    const file = (await loaded.get()).files.get(name);
    if (file === undefined) return NOT_HERE;
    const headers = {
      'content-type': file.type,
      // The name has a hash of the content.
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
    };
    return { status: 200, headers, body: file.text };
  };
}
