import type { AgentInterface } from 'parley-a2a';
import {
  clientV1_0,
  InvalidAgentResponseError,
  type OpenedStream,
  type OperationTypes,
  type ReceivedEvent,
  type StreamingOperationName,
  serviceHeaders,
  type TransportCall,
  type UnaryOperationName,
} from 'parley-a2a/binding-kit';
import type { ClientTransport } from 'parley-a2a/client';
import { A2AError, BY_VERB, ConnectionError } from 'parley-a2a/kit';
import type { Clock } from 'parley-a2a/server';
import type { ClientFeed, ReceivedItem } from './client-feed.js';
import type { Hello, RemoteAgent, RemoteCallOptions } from './client-remotes.js';
import { ClientSession, type ClientSessionOptions, type ClientSessionSettings } from './client-session.js';
import type { ClientSocket } from './client-socket.js';
import { type InBandCredential, type SchemesByName, splitCredential } from './in-band-credential.js';
import { fromWire, toWire } from './wire-values.js';

/** The options of `CapnwebClientTransport`. */
interface CapnwebClientTransportOptions {
  readonly agentInterface: AgentInterface;
  /** The security schemes of the card. */
  readonly schemes: SchemesByName | undefined;
  /** Opens a socket to the interface. */
  readonly connect: (signal: AbortSignal) => Promise<ClientSocket>;
  /** Its timers let the process end. */
  readonly clock: Clock;
  readonly turn: ClientSessionOptions['turn'];
  readonly settings: ClientSessionSettings;
}

/** The key of a function that runs in the session of the call, instead of an operation. */
export const IN_SESSION: unique symbol = Symbol('in session');

/** A request that runs in a session, with the credentials and retries of other calls. */
export interface InSession {
  readonly [IN_SESSION]?: (session: ClientSession, signal: AbortSignal | undefined) => Promise<unknown>;
}

const VERSION = 'a2a-version';
const LAST_EVENT_ID = 'last-event-id';

/**
 * Calls an agent over Cap'n Web sessions: one for each credential, opened by the first call and shared by calls and
 * streams. A session can renew its credential for the same caller. A resumed stream begins after `lastEventId`, the
 * number of its last item.
 */
export class CapnwebClientTransport implements ClientTransport {
  readonly agentInterface: AgentInterface;
  readonly address: string;
  readonly #options: CapnwebClientTransportOptions;
  readonly #sessions = new Map<string, ClientSession | Promise<ClientSession>>();
  #isClosed = false;

  constructor(options: CapnwebClientTransportOptions) {
    this.agentInterface = options.agentInterface;
    this.address = options.agentInterface.url.replace(/^ws/i, 'http');
    this.#options = options;
  }

  async call<Name extends UnaryOperationName>(call: TransportCall<Name>): Promise<OperationTypes[Name]['response']> {
    const { session, options } = await this.#place(call);
    const inSession = call.request as InSession;
    if (inSession[IN_SESSION] !== undefined)
      return (await inSession[IN_SESSION](session, call.signal)) as OperationTypes[Name]['response'];
    const request = requestOf(call);
    const make = (agent: RemoteAgent) => callRemote(agent, call, { request, options });
    const answer = await session.call(make, call.signal, (value) => this.#read(value));
    return clientV1_0.decodeResponse(call.operation, answer);
  }

  async stream(call: TransportCall<StreamingOperationName>): Promise<OpenedStream> {
    const { session, options } = await this.#place(call);
    const request = requestOf(call);
    const feed = await session.feed((agent) => callRemote(agent, call, { request, options }), call.signal);
    call.opened?.();
    const events = new FeedEvents(feed, (value) => this.#read(value));
    return { first: await events.next(), events };
  }

  /** Closes all sessions. No further ones are opened. */
  close(): void {
    this.#isClosed = true;
    const sessions = [...this.#sessions.values()];
    this.#sessions.clear();
    for (const session of sessions)
      void Promise.resolve(session).then(
        (open) => open.close(),
        () => {},
      );
  }

  async #place(call: TransportCall): Promise<{ session: ClientSession; options: RemoteCallOptions | undefined }> {
    const { schemes } = this.#options;
    const { credential, identity, headers } = splitCredential(call, schemes);
    const session = this.#sessionFor({ tenant: tenantOf(call), credential, identity });
    const {
      [VERSION]: _,
      [LAST_EVENT_ID]: __,
      ...parameters
    } = serviceHeaders(this.agentInterface.protocolVersion, { ...call, headers });
    const options = Object.keys(parameters).length === 0 ? undefined : { parameters };
    return { session: session instanceof Promise ? await session : session, options };
  }

  #sessionFor(wanted: WantedSession): ClientSession | Promise<ClientSession> {
    const key = keyOf(wanted);
    const known = this.#sessions.get(key);
    if (known !== undefined && (known instanceof Promise || !known.isRetired)) return known;
    const other = this.#renewable(wanted);
    if (other === undefined) return this.#open(key, wanted);
    const renewed = this.#renew(key, wanted, other);
    this.#sessions.set(key, renewed);
    return renewed;
  }

  /** A session of the same tenant with another credential of the same scheme. */
  #renewable(wanted: WantedSession): readonly [key: string, session: ClientSession] | undefined {
    if (wanted.credential === undefined) return undefined;
    const begin = keyOf({ ...wanted, credential: { ...wanted.credential, value: '' } }).slice(0, -2);
    for (const [key, session] of this.#sessions) {
      if (key.startsWith(begin) && !(session instanceof Promise) && !session.isRetired) return [key, session];
    }
    return undefined;
  }

  /**
   * Renews the credential of a session. If the agent refuses the new one, the session keeps its own, and a new session
   * is opened.
   */
  async #renew(
    key: string,
    wanted: WantedSession,
    [old, session]: readonly [key: string, session: ClientSession],
  ): Promise<ClientSession> {
    this.#sessions.delete(old);
    try {
      const { credential } = wanted;
      if (credential !== undefined)
        await session.call(
          (agent) => agent.renew(credential),
          undefined,
          () => {},
        );
      if (session.isRetired) return this.#open(key, wanted);
      this.#sessions.set(key, session);
      return session;
    } catch {
      session.retire();
      return this.#open(key, wanted);
    }
  }

  #open(key: string, { tenant, credential, identity }: WantedSession): ClientSession {
    if (this.#isClosed) throw new ConnectionError('The client is closed', { sent: false, isFinal: true });
    const { connect, clock, turn, settings } = this.#options;
    const hello: Hello = {
      parameters: { 'A2A-Version': this.agentInterface.protocolVersion, ...identity },
      ...(tenant !== undefined && { tenant }),
      ...(credential !== undefined && { credential }),
    };
    const session = new ClientSession({
      hello,
      connect,
      clock,
      turn,
      settings,
      onRetire: () => {
        for (const [place, held] of this.#sessions) if (held === session) this.#sessions.delete(place);
      },
    });
    this.#sessions.set(key, session);
    return session;
  }

  #read(value: unknown): unknown {
    return fromWire(value, { streamBytes: this.#options.settings.frameBytes, fault: invalidAnswer });
  }
}

interface WantedSession {
  readonly tenant: string | undefined;
  readonly credential: InBandCredential | undefined;
  /** Headers with further credentials. */
  readonly identity: Readonly<Record<string, string>>;
}

/** A key that differs between callers. The credential is last, because it is renewed. */
function keyOf({ tenant, credential, identity }: WantedSession): string {
  return JSON.stringify([tenant, identity, credential?.scheme, credential?.value]);
}

function tenantOf({ request }: TransportCall): string | undefined {
  const { tenant } = request as { readonly tenant?: string };
  return tenant === '' ? undefined : tenant;
}

/** Encodes the request, with the number of the item after which a stream begins. */
function requestOf({ operation, request, lastEventId }: TransportCall): unknown {
  const wire = toWire(clientV1_0.encodeRequest(operation, request));
  const after = operation === BY_VERB.subscribe && lastEventId !== undefined ? Number(lastEventId) : undefined;
  return after !== undefined && Number.isSafeInteger(after) && after >= 0 ? { ...(wire as object), after } : wire;
}

function callRemote(
  agent: RemoteAgent,
  { operation }: TransportCall,
  { request, options }: { readonly request: unknown; readonly options: RemoteCallOptions | undefined },
) {
  return options === undefined ? agent[operation](request) : agent[operation](request, options);
}

/** The error for an invalid value in an answer. */
export function invalidAnswer(description: string): A2AError {
  return new InvalidAgentResponseError(description);
}

type Batch = IteratorResult<readonly ReceivedEvent[], undefined>;

const KEEP_ALIVE: Batch = Object.freeze({ value: Object.freeze([]), done: false });

/** The events of a feed, with their numbers as ids. */
class FeedEvents implements AsyncIterator<readonly ReceivedEvent[], undefined> {
  readonly #feed: ClientFeed;
  readonly #received: (value: unknown) => unknown;

  constructor(feed: ClientFeed, received: (value: unknown) => unknown) {
    this.#feed = feed;
    this.#received = received;
  }

  async next(): Promise<Batch> {
    const result = await this.#item();
    if (result.done === true) return result;
    const item = result.value;
    if (item === undefined) return KEEP_ALIVE;
    try {
      const value = this.#received(item.event);
      const event = clientV1_0.decodeEvent(value instanceof Promise ? await value : value);
      if (event === undefined) return KEEP_ALIVE;
      return { value: [item.seq === undefined ? { event } : { event, id: String(item.seq) }], done: false };
    } catch (error) {
      await this.#feed.return();
      throw error;
    }
  }

  return(): Promise<IteratorReturnResult<undefined>> {
    return this.#feed.return();
  }

  /** An expired credential interrupts an accepted stream. The next connection uses the latest one. */
  async #item(): Promise<IteratorResult<ReceivedItem | undefined, undefined>> {
    try {
      return await this.#feed.next();
    } catch (error) {
      if (!(error instanceof A2AError) || error.code !== 'UNAUTHENTICATED') throw error;
      throw new ConnectionError('The credential of the stream has ended', { sent: true, cause: error });
    }
  }
}
