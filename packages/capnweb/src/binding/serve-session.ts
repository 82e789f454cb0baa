import { RpcSession } from 'capnweb';
import type { SocketPort, TurnBudget, WaitingMemory } from 'parley-a2a/binding-kit';
import { A2AError } from 'parley-a2a/kit';
import { BatchTransport } from './batch-transport.js';
import { Entrance } from './entrance.js';
import { ServerSession, type ServerSessionOptions } from './server-session.js';
import { transportLimits } from './session-limits.js';
import { CLOSE_CODES, type FrameMemory, SocketTransport } from './socket-transport.js';
import { sentError } from './wire-errors.js';

/** A connection, and the agent behind it. */
interface ServedSessionOptions extends Omit<ServerSessionOptions, 'isBatch' | 'onAdmit' | 'end' | 'hold'> {
  readonly socket: SocketPort;
  /** Bounds the large frames of all connections. */
  readonly memory: FrameMemory | undefined;
  /** Bounds the bytes of all connections that wait for their peers to read. */
  readonly waiting: WaitingMemory;
  /** The address of the caller, if it is known. */
  readonly caller: string | undefined;
  /** Bounds the time for the frames of all connections. */
  readonly turn: TurnBudget;
  /** A number from 0 to 1 for the jitter of the age. */
  readonly random: number;
  /** Called once, when the connection has ended. */
  readonly onClose: () => void;
}

/** A served connection, for its host. */
export interface ServedSession {
  /** Refuses new calls. */
  drain(): void;
  /** Ends all feeds within a grace, and then the connection. */
  end(graceMs: number): void;
}

const END_CODES = {
  credentialEnded: { code: CLOSE_CODES.credentialEnded, reason: 'The credential has expired or was revoked' },
  refusals: { code: CLOSE_CODES.policy, reason: 'Too many refused credentials' },
  restart: { code: CLOSE_CODES.restart, reason: 'The server is shutting down' },
} as const;

/** Serves an agent on a WebSocket. */
export function serveSession(options: ServedSessionOptions): ServedSession {
  const { socket, limits, clock, requests } = options;
  const bornAt = clock.monotonic();
  const lastsMs = limits.ageMs * (0.9 + 0.2 * options.random);
  const stopDeadline = clock.after(limits.authenticateMs, () =>
    transport.close(CLOSE_CODES.authenticateTimeout, 'No authenticate in time', 'authenticateMs'),
  );
  const transport: SocketTransport = new SocketTransport({
    socket,
    limits: transportLimits(limits, requests),
    clock,
    firstFrameLength: limits.firstFrameLength,
    memory: options.memory,
    waiting: options.waiting,
    caller: options.caller,
    turn: options.turn,
    onClose: ({ limit }) => {
      if (limit !== undefined) options.limitReached(limit);
      stopDeadline();
      session.closed();
      options.onClose();
    },
    tick: () => {
      if (clock.monotonic() - bornAt >= lastsMs) session.endAll();
      else if (session.isIdleFor(limits.idleMs)) transport.close(CLOSE_CODES.normal, 'The connection was idle');
    },
  });
  const session: ServerSession = new ServerSession({
    ...options,
    isBatch: false,
    hold: () => transport.hold(),
    onAdmit: () => {
      stopDeadline();
      transport.welcome();
    },
    end: (reason) => {
      const { code, reason: text } = END_CODES[reason];
      transport.close(code, text);
    },
  });
  socket.limitMessages?.(limits.firstFrameLength);
  new RpcSession(transport, new Entrance(session), { onSendError: (error) => sentError(error, unknownMethod) });
  return { drain: () => session.drain(), end: (graceMs) => session.endAll(graceMs) };
}

/** The agent behind a batch. */
type ServedBatchOptions = Omit<
  ServedSessionOptions,
  'socket' | 'random' | 'onClose' | 'memory' | 'waiting' | 'caller' | 'turn'
>;

/**
 * Answers a batch, whose lines are frames, with lines of frames. Calls that are still running after `batchMs` get no
 * answer.
 * @throws A2AError for a batch that breaks the rules of frames.
 */
export async function serveBatch(text: string, options: ServedBatchOptions): Promise<string> {
  const { limits, clock, requests } = options;
  const transport = new BatchTransport(text, {
    limits: transportLimits(limits, requests),
    frames: limits.batchFrames,
  });
  const nothing = () => {};
  const session = new ServerSession({
    ...options,
    isBatch: true,
    hold: () => nothing,
    onAdmit: nothing,
    end: nothing,
  });
  const rpc = new RpcSession(transport, new Entrance(session), {
    onSendError: (error) => sentError(error, unknownMethod),
  });
  const late = Promise.withResolvers<void>();
  const stopTimer = clock.after(limits.batchMs, late.resolve);
  try {
    await transport.allReceived;
    await Promise.race([rpc.drain(), late.promise]);
    return transport.answer();
  } finally {
    stopTimer();
    session.closed();
    // Runs the disposers of the objects that the batch made.
    rpc.getRemoteMain()[Symbol.dispose]();
  }
}

/** The error for a call of an unknown member. */
export function unknownMethod(): A2AError {
  return new A2AError('METHOD_NOT_FOUND', 'The object has no such method');
}
