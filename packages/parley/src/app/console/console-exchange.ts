import { isFromOtherSite } from '../../auth/cross-site.js';
import type { Exchange, ExchangeRequest, ExchangeResponse } from '../../bindings/http/exchange.js';
import { LoadedOnDemand } from '../../runtime/loaded-on-demand.js';
import { isOfThisMachine } from '../forwarded-request.js';
import type { HostView } from '../host-extension.js';
import { errorAnswer, jsonAnswer } from '../json-answer.js';
import { KEY_SET_PATH } from '../key-set-extension.js';
import { readOnly, taking } from '../middleware/method-filter.js';
import type { ConsoleOptions, ConsoleParts } from './console-extension.js';
import type { ConsoleAnswer, ConsoleFiles, ConsolePackage, PushInboxes } from './console-files.js';
import { consolePage } from './console-page.js';

/** The cards of the agents of the host. */
const AGENTS_FILE = 'agents.json';
/** The endpoint for requests to the authorization servers of the cards. */
const OAUTH_FILE = 'oauth';
/** The endpoint of the page for its push inboxes. Those for agents have a name behind it. */
const INBOX_FILE = 'inbox';
const INBOX = /^inbox-([\w-]+)$/;
/** A path of the operator API, if the host has that. */
const OPERATOR_API = '/operator/v1/status';
const MOST_BYTES = 64 * 1024;
/** The inbox has a lower limit of its own. */
const MOST_NOTIFICATION = 16 * 1024 * 1024;

const NOT_HERE: ExchangeResponse = errorAnswer({ status: 404, message: 'Nothing is served here' });

/** The console of a host, for requests that came directly. */
export interface ConsoleExchange {
  readonly exchange: Exchange;
  close(): void;
}

/** The parts of `consoleExchange`. */
export interface ConsoleExchangeOptions extends Omit<ConsoleParts, 'loadConsole'>, Pick<ConsoleOptions, 'settings'> {
  readonly host: HostView;
  readonly library: ConsolePackage;
  /** The path of the console. */
  readonly folder: string;
}

/** The page, its files, and the endpoints that the page asks. */
export async function consoleExchange(options: ConsoleExchangeOptions): Promise<ConsoleExchange> {
  const { host, library, folder, fetch, loadReceiver } = options;
  const read = readOnly(filesExchange(await library.consoleFiles(), options));
  const relay = pageExchange(library.oauthRelay({ cards: () => host.mounts.map((mount) => mount.card('')), fetch }));
  const inboxes = new LoadedOnDemand(async () => {
    const keysUrl = (_agent: string, place: string) => `${place.slice(0, -folder.length)}${KEY_SET_PATH}`;
    return new library.PushInboxes({ receiver: await loadReceiver(), keysUrl });
  });
  const ask = pageExchange(async (text, request) => {
    const { mount = '' } = request;
    return (await inboxes.get()).ask(text, `${request.header('origin')}${mount}${folder}`);
  });
  return {
    exchange: async (request) => {
      const name = request.path.slice(folder.length + 1);
      const [, inbox] = INBOX.exec(name) ?? [];
      if (name === OAUTH_FILE) return relay(request);
      if (inbox === undefined && name !== INBOX_FILE) return read(request);
      // Inboxes take what other programs of this machine send. Other machines have no use for them.
      if (!isOfThisMachine(request)) return NOT_HERE;
      return inbox === undefined ? ask(request) : takeNotification(await inboxes.get(), inbox, request);
    },
    close: () => inboxes.loaded?.close(),
  };
}

function filesExchange(
  all: ConsoleFiles,
  { host, folder, settings }: Pick<ConsoleExchangeOptions, 'host' | 'folder' | 'settings'>,
): Exchange {
  const { traceUrl } = typeof settings === 'object' ? settings : {};
  const agents = ({ mount = '' }: ExchangeRequest) =>
    jsonAnswer({
      status: 200,
      value: {
        agents: host.mounts.map((agent) => ({
          path: agent.path === '/' && mount !== '' ? mount : mount + agent.path,
          card: mount + agent.cardPath,
          bodyBytes: agent.bindingContext().limits.bodyBytes,
        })),
        ...(mount !== '' && { mount }),
        // The page asks for it at the root of its origin.
        ...(mount === '' && host.serves(OPERATOR_API) && { operator: true }),
        ...(traceUrl !== undefined && { traceUrl }),
      },
      headers: { 'cache-control': 'no-cache' },
    });
  return async (request) => {
    const { path, mount = '' } = request;
    if (path === '/' || path === folder) {
      return consolePage({ files: all, host, base: host.baseUrl(request), folder: mount + folder });
    }
    const name = path.slice(folder.length + 1);
    if (name === AGENTS_FILE) return agents(request);
    const file = all.files.get(name);
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

/** Answers JSON of the page. Pages of other sites and forms cannot send it. */
function pageExchange(answer: (text: string, request: ExchangeRequest) => Promise<ConsoleAnswer>): Exchange {
  return taking({ methods: ['POST'], message: 'This takes requests of the console only' }, async (request) => {
    const type = request.header('content-type') ?? '';
    if (isFromOtherSite((name) => request.header(name)) === true || !type.startsWith('application/json')) {
      return errorAnswer({ status: 403, message: 'Only the console may ask here' });
    }
    const body = await request.body(MOST_BYTES);
    return answer(new TextDecoder().decode(body), request);
  });
}

/** Gives a push notification to the inbox of a name. */
function takeNotification(inboxes: PushInboxes, name: string, request: ExchangeRequest): Promise<ConsoleAnswer> {
  const { method } = request;
  return inboxes.take(name, { method, header: (field) => request.header(field), body: bodyOf(request) });
}

async function* bodyOf(request: ExchangeRequest): AsyncGenerator<Uint8Array> {
  yield await request.body(MOST_NOTIFICATION);
}
