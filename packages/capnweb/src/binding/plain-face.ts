import { RpcTarget } from 'capnweb';
import type { AgentCard, SecurityScheme } from 'parley-a2a';
import { encodeHybridCard, repeatedFieldError, v0_3JsonRpc } from 'parley-a2a/binding-kit';
import { BY_VERB, isObject } from 'parley-a2a/kit';
import { CAPNWEB_BINDING, CAPNWEB_NAME } from './binding-uris.js';
import type { Grant } from './grant.js';
import { PLAIN_CODEC } from './plain-codec.js';
import { listedTasks, type PlainPage, readFilter } from './plain-listing.js';
import type { ServerSession } from './server-session.js';
import { invalid, members } from './session-values.js';
import { StreamingTask } from './streaming-task.js';
import { type CallbackEvent, keptCallback } from './task-callback.js';
import { TaskCallbacks } from './task-callbacks.js';
import { base64Of } from './wire-values.js';

/** The first message of a caller. */
interface Hello {
  readonly parameters: Readonly<Record<string, string>>;
  readonly credential?: { readonly scheme: string; readonly value: string };
}

/** The hello of callers without their own credential. */
export const ANONYMOUS_HELLO: Hello = { parameters: {} };

/** The operations with plain arguments, for the holder of a grant. It has no state of its own. */
export class PlainFace {
  readonly #session: ServerSession;
  readonly #grant: () => Promise<Grant>;

  constructor(session: ServerSession, grant: () => Promise<Grant>) {
    this.#session = session;
    this.#grant = grant;
  }

  async send(message: unknown, configuration?: unknown): Promise<unknown> {
    const grant = await this.#grant();
    const value = await this.#session.run(() => sendRequest(grant, message, configuration));
    return this.#session.call({ grant, operation: BY_VERB.send, value, codec: PLAIN_CODEC });
  }

  /** Sends a message. Resolves to its task, or to the message of an agent that makes no task. */
  async stream(message: unknown, configuration?: unknown, callback?: unknown): Promise<unknown> {
    const session = this.#session;
    const grant = await this.#grant();
    const value = await session.run(() => sendRequest(grant, message, configuration));
    // The callback is kept first: arguments are disposed when the call returns, and a wrong callback must not begin a
    // task.
    const kept = await session.run(() =>
      callback === undefined || callback === null ? undefined : keptCallback(callback, session.options.clock),
    );
    try {
      const source = await session.stream({ grant, operation: BY_VERB.stream, value, codec: PLAIN_CODEC });
      const first = await source.next();
      source.stop();
      const [begun, ...rest] = (first?.event ?? []) as unknown as readonly CallbackEvent[];
      if (first === undefined || begun?.taskId === undefined || begun.type === undefined) {
        kept?.[Symbol.dispose]();
        return begun;
      }
      const callbacks = new TaskCallbacks(session, grant, begun.taskId);
      if (kept !== undefined) await callbacks.follow(kept, { seq: first.seq, events: [begun, ...rest] });
      return new StreamingTask(callbacks);
    } catch (error) {
      kept?.[Symbol.dispose]();
      throw error;
    }
  }

  async get(id: unknown, historyLength?: unknown): Promise<unknown> {
    return this.#call(
      BY_VERB.get,
      historyLength === undefined || historyLength === null ? { id } : { id, historyLength },
    );
  }

  cancel(id: unknown): Promise<unknown> {
    return this.#call(BY_VERB.cancel, { id });
  }

  async list(params?: unknown): Promise<unknown> {
    const session = this.#session;
    const grant = await this.#grant();
    const page = (value: object) =>
      session.answerCall({ grant, operation: BY_VERB.list, value, codec: PLAIN_CODEC }) as Promise<PlainPage>;
    return session.run(() => listedTasks(readFilter(params), page));
  }

  async #call(operation: (typeof BY_VERB)['get' | 'cancel'], value: object): Promise<unknown> {
    return this.#session.call({ grant: await this.#grant(), operation, value, codec: PLAIN_CODEC });
  }
}

/** The methods with plain arguments, by their names on the wire. */
const METHODS: Readonly<Record<string, 'send' | 'stream' | 'get' | 'list' | 'cancel'>> = {
  [BY_VERB.send]: 'send',
  sendMessageStreaming: 'stream',
  [BY_VERB.get]: 'get',
  [BY_VERB.list]: 'list',
  [BY_VERB.cancel]: 'cancel',
};

/** Adds the methods with plain arguments to the prototype of a class. */
export function addPlainMethods<Owner extends object>(prototype: Owner, faceOf: (owner: Owner) => PlainFace): void {
  for (const [name, method] of Object.entries(METHODS)) {
    const value = function (this: Owner, ...[first, second, third]: readonly unknown[]): Promise<unknown> {
      return faceOf(this)[method](first, second, third);
    };
    Object.defineProperty(prototype, name, { value, configurable: true, writable: true });
  }
}

/** The operations with plain arguments for one user. */
export class AuthenticatedA2AService extends RpcTarget {
  readonly #session: ServerSession;
  readonly #grant: Grant;
  readonly #face: PlainFace;

  static {
    addPlainMethods(AuthenticatedA2AService.prototype, (service) => service.#face);
  }

  constructor(session: ServerSession, grant: Grant) {
    super();
    this.#session = session;
    this.#grant = grant;
    this.#face = new PlainFace(session, async () => grant);
    session.hold(grant);
  }

  getAgentCard(): Promise<unknown> {
    return this.#session.run(() => plainCard(this.#session.options.card()));
  }

  [Symbol.dispose](): void {
    this.#session.release(this.#grant);
  }
}

/** The card with the members of 1.0 and of 0.3. The 0.3 members have at least the address of the session. */
export function plainCard(card: AgentCard): unknown {
  const { supportedInterfaces } = card;
  const address = supportedInterfaces.find(({ protocolBinding }) => protocolBinding === CAPNWEB_BINDING);
  const isThere = supportedInterfaces.some(({ protocolBinding }) => protocolBinding === CAPNWEB_NAME);
  const further =
    address === undefined || isThere
      ? []
      : [{ url: address.url, protocolBinding: CAPNWEB_NAME, protocolVersion: '0.3' }];
  const all = { ...card, supportedInterfaces: [...supportedInterfaces, ...further] };
  return JSON.parse(encodeHybridCard(all, v0_3JsonRpc));
}

/** True for the credential of the methods with plain arguments, and false for a hello. */
export function isPlainCredential(given: unknown): boolean {
  return isObject(given) && typeof given.type === 'string' && given.parameters === undefined;
}

/**
 * The hello for such a credential: the first scheme of the card that takes its type, or else the type as a scheme of
 * HTTP.
 * @throws InvalidParamsError
 */
export function helloFor(given: unknown, { securitySchemes = {} }: AgentCard): Hello {
  const credential = members(given, 'credential');
  const takes = KINDS_OF_SCHEMES.get(String(credential.type));
  if (takes === undefined) throw invalid('type', `must be one of ${[...KINDS_OF_SCHEMES.keys()].join(', ')}`);
  const value = secretOf(credential);
  if (value === undefined) return ANONYMOUS_HELLO;
  const named = Object.entries(securitySchemes).find(([, scheme]) => takes(scheme));
  // A card without a scheme of this type may be that of an agent that reads headers itself.
  const scheme = named?.[0] ?? String(credential.type);
  return { parameters: {}, credential: { scheme, value } };
}

const isBearer = (scheme: SecurityScheme) =>
  scheme.httpAuthSecurityScheme !== undefined && scheme.httpAuthSecurityScheme.scheme.toLowerCase() === 'bearer';
const isLogin = (scheme: SecurityScheme) =>
  scheme.oauth2SecurityScheme !== undefined || scheme.openIdConnectSecurityScheme !== undefined;

/** The schemes that accept a credential of each type. */
const KINDS_OF_SCHEMES: ReadonlyMap<string, (scheme: SecurityScheme) => boolean> = new Map([
  ['bearer', (scheme) => isBearer(scheme) || isLogin(scheme)],
  ['apikey', (scheme) => scheme.apiKeySecurityScheme !== undefined],
  ['oauth2', (scheme) => isLogin(scheme) || isBearer(scheme)],
  ['mtls', (scheme) => scheme.mtlsSecurityScheme !== undefined],
  ['custom', (scheme) => scheme.httpAuthSecurityScheme !== undefined && !isBearer(scheme)],
] satisfies [string, (scheme: SecurityScheme) => boolean][]);

/** The secret text of a credential; `undefined` for the certificate of the connection. */
function secretOf({
  type,
  token,
  apiKey,
  clientId,
  clientSecret,
}: Readonly<Record<string, unknown>>): string | undefined {
  if (type === 'mtls') return undefined;
  if (isGiven(token) && isGiven(apiKey)) throw repeatedFieldError('token');
  const isClient = typeof clientId === 'string' && typeof clientSecret === 'string';
  const value =
    type === 'apikey'
      ? (apiKey ?? token)
      : (token ?? (isClient ? base64Of(new TextEncoder().encode(`${clientId}:${clientSecret}`)) : apiKey));
  if (typeof value !== 'string') throw invalid(type === 'apikey' ? 'apiKey' : 'token', 'must be a string');
  return value;
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** The request for a message, with the id of its sender in the metadata. */
function sendRequest(grant: Grant, message: unknown, configuration: unknown): object {
  const { userId } = grant;
  const { metadata, ...rest } = members(message, 'message');
  const own = userId === undefined ? metadata : { ...(isObject(metadata) ? metadata : {}), userId };
  return {
    message: own === undefined ? rest : { ...rest, metadata: own },
    ...(configuration !== undefined && configuration !== null && { configuration }),
  };
}
