import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ErrorCode, isJSONRPCRequest, type JSONRPCRequest, type RequestId } from '@modelcontextprotocol/sdk/types.js';
import { type OptionSchemas, positive, Type, texts } from 'parley-a2a/kit';
import type { Clock, IdSource } from 'parley-a2a/server';
import { ReplayBuffer } from './replay-buffer.js';

/** Options of an MCP endpoint. All have defaults. */
export interface McpEndpointOptions {
  /** Allowed names in the header Host, without a port. Default: names of this machine. */
  readonly hosts?: readonly string[];
  /** Origins of web pages that may call. Default: none. */
  readonly origins?: readonly string[];
  /**
   * The most sessions; default 100. A new one ends the one that was unused for longest, and one with a running call
   * last. Such a call gets the error -32000.
   */
  readonly sessions?: number;
  /** The time in ms after which an unused session ends, once another one begins; default 30 minutes. */
  readonly idleMs?: number;
  /** Maximum size of a request in bytes; default 4 MiB. */
  readonly requestBytes?: number;
  /** Maximum bytes of sent messages that are stored for clients that lost their connection; default 32 MiB. 0: none. */
  readonly replayBytes?: number;
}

const amount = Type.Optional(positive);

/** The schemas of McpEndpointOptions. */
export const mcpEndpointSchemas: OptionSchemas<McpEndpointOptions> = {
  hosts: Type.Optional(texts),
  origins: Type.Optional(texts),
  sessions: amount,
  idleMs: amount,
  requestBytes: amount,
  replayBytes: Type.Optional(Type.Number({ minimum: 0 })),
};

/** The parts of an MCP endpoint. */
interface McpEndpointSetup {
  /** Makes the server of a new session. */
  readonly server: () => Server;
  readonly clock: Clock;
  readonly ids: Pick<IdSource, 'random'>;
}

interface Session {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  /** Monotonic time. */
  usedAt: number;
  /** HTTP requests with unfinished answers, such as the stream that a client keeps open. */
  open: number;
  /** The requests without a result. */
  readonly calls: ReadonlyMap<RequestId, JSONRPCRequest>;
}

const LOCAL: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];
const SESSIONS = 100;
const IDLE_MS = 30 * 60_000;
const REQUEST_BYTES = 4 * 1024 * 1024;
const REPLAY_BYTES = 32 * 1024 * 1024;
const SESSION_HEADER = 'mcp-session-id';

/** Serves MCP over streamable HTTP, with a server for each session. */
export class McpEndpoint {
  readonly #options: McpEndpointOptions;
  readonly #setup: McpEndpointSetup;
  readonly #sessions = new Map<string, Session>();
  readonly #replays: ReplayBuffer | undefined;
  #isClosed = false;

  constructor(options: McpEndpointOptions, parts: McpEndpointSetup) {
    this.#options = options;
    this.#setup = parts;
    const bytes = options.replayBytes ?? REPLAY_BYTES;
    this.#replays = bytes > 0 ? new ReplayBuffer({ ids: parts.ids, bytes }) : undefined;
  }

  /** Answers a request to the endpoint. */
  async handle(request: Request): Promise<Response> {
    const refusal = this.#refusal(request);
    if (refusal !== undefined) return new Response(`${refusal}\n`, { status: this.#isClosed ? 503 : 403 });
    const id = request.headers.get(SESSION_HEADER);
    if (id === null) return this.#begin(request);
    const session = this.#sessions.get(id);
    // By the protocol, this status makes a client begin a new session.
    if (session === undefined) return new Response('There is no such session.\n', { status: 404 });
    return this.#answer(session, request);
  }

  /** Ends all sessions, and refuses later requests. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#setup.clock.hold(Promise.all(Array.from(this.#sessions.values(), endSession)));
  }

  /** A web page must not reach a server of this machine by DNS rebinding. */
  #refusal({ url, headers }: Request): string | undefined {
    if (this.#isClosed) return 'The server is closed.';
    const { hosts = LOCAL, origins = [] } = this.#options;
    const host = URL.parse(`http://${headers.get('host') ?? new URL(url).host}`)?.hostname;
    if (host === undefined || !hosts.includes(host)) return 'This host is not served here.';
    const origin = headers.get('origin');
    return origin === null || origins.includes(origin) ? undefined : 'Pages of this origin may not call.';
  }

  async #begin(request: Request): Promise<Response> {
    const { server, clock, ids } = this.#setup;
    let session: Session | undefined;
    const events = this.#replays?.ofSession();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => ids.random(),
      maxRequestBodySize: this.#options.requestBytes ?? REQUEST_BYTES,
      ...(events !== undefined && { eventStore: events }),
      onsessioninitialized: (id) => {
        this.#makeRoom();
        this.#sessions.set(id, made);
        session = made;
      },
    });
    const connected = server();
    await connected.connect(transport);
    const made: Session = { transport, usedAt: clock.monotonic(), open: 0, calls: watchedCalls(transport) };
    connected.onclose = () => {
      events?.end();
      if (transport.sessionId !== undefined) this.#sessions.delete(transport.sessionId);
    };
    const response = await this.#answer(made, request);
    // Only an initialize request begins a session.
    if (session === undefined) await transport.close();
    return response;
  }

  async #answer(session: Session, request: Request): Promise<Response> {
    const { clock } = this.#setup;
    session.open += 1;
    session.usedAt = clock.monotonic();
    const endRequest = () => {
      session.open -= 1;
      session.usedAt = clock.monotonic();
    };
    let response: Response;
    try {
      response = await session.transport.handleRequest(request);
    } catch (error) {
      endRequest();
      throw error;
    }
    if (response.body === null) {
      endRequest();
      return response;
    }
    return new Response(watchBody(response.body, endRequest), response);
  }

  /**
   * Closes idle sessions. If there are too many, closes those without a call first, then those without a stream, and
   * the longest unused one of each group.
   */
  #makeRoom(): void {
    const { sessions = SESSIONS, idleMs = IDLE_MS } = this.#options;
    const now = this.#setup.clock.monotonic();
    const rank = ({ open, calls }: Session) => (calls.size > 0 ? 2 : open > 0 ? 1 : 0);
    const ordered = [...this.#sessions.values()].sort((a, b) => rank(a) - rank(b) || a.usedAt - b.usedAt);
    let tooMany = this.#sessions.size - sessions + 1;
    for (const session of ordered) {
      const isUnused = session.open === 0 && now - session.usedAt >= idleMs;
      if (!isUnused && tooMany <= 0) break;
      tooMany -= 1;
      void endSession(session);
    }
  }
}

const SESSION_ENDED_TEXT = 'The session has ended. Begin a new one, and read the task of the call there.';

/** Closes a session. Its running calls get an error, because their clients would wait forever. */
async function endSession({ transport, calls }: Session): Promise<void> {
  const error = { code: ErrorCode.ConnectionClosed, message: SESSION_ENDED_TEXT };
  await Promise.allSettled(
    Array.from(calls.values(), ({ method: _, params: __, ...envelope }) => transport.send({ ...envelope, error })),
  );
  await transport.close();
}

/** The requests of a client without a result. The map is updated with each message. */
function watchedCalls(transport: Transport): Session['calls'] {
  const calls = new Map<RequestId, JSONRPCRequest>();
  const { onmessage } = transport;
  const send = transport.send.bind(transport);
  transport.onmessage = (message, extra) => {
    if (isJSONRPCRequest(message)) calls.set(message.id, message);
    onmessage?.(message, extra);
  };
  transport.send = (message, options) => {
    if (!('method' in message) && message.id !== undefined) calls.delete(message.id);
    return send(message, options);
  };
  return calls;
}

/** Calls `ended` once, when a body has been read to its end or its reader has left. */
function watchBody(body: ReadableStream<Uint8Array>, ended: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let isOver = false;
  const end = () => {
    if (!isOver) ended();
    isOver = true;
  };
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        try {
          const { done, value } = await reader.read();
          if (!done) return controller.enqueue(value);
          end();
          controller.close();
        } catch (error) {
          end();
          controller.error(error);
        }
      },
      cancel: async (reason) => {
        end();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
