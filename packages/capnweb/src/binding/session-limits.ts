import { DEFAULT_REQUEST_LIMITS } from 'parley-a2a/binding-kit';
import type { RequestLimits } from 'parley-a2a/server';
import type { TransportLimits } from './socket-transport.js';

/** The limits of the sessions of one server. */
export interface SessionLimits {
  /** The time to authenticate, in ms. Default 10 s. */
  readonly authenticateMs: number;
  /** Characters of a frame before `authenticate`. Default 64 KiB. */
  readonly firstFrameLength: number;
  /** Connections of one address. Default 50. */
  readonly connectionsPerAddress: number;
  /** Connections in all. Default 10,000. */
  readonly connections: number;
  /** Calls of a connection that run at the same time. Default 64. */
  readonly runningCalls: number;
  /** Characters of calls longer than 64 Ki that run at the same time on a connection. Default 32 Mi. */
  readonly runningLength: number;
  /** Calls of a connection that its client has not released. Default 1,024. */
  readonly unreleasedCalls: number;
  /** Objects that a client has not released. Default 512. */
  readonly capabilities: number;
  /** Feeds and watches of a connection. Default 64. */
  readonly feeds: number;
  /** Functions of a client that the server holds. Default 64. */
  readonly callbacks: number;
  /** Bytes of streams from a client that no call has read. Default 8 MiB. */
  readonly unconsumedBytes: number;
  /** Bytes that wait for a client to read them. Default 16 MiB. */
  readonly outboundBytes: number;
  /** Bytes of both kinds on all connections, above 64 KiB each. Default 128 MiB. */
  readonly waitingBytes: number;
  /** The time between pings, in ms. Default 25 s. */
  readonly pingMs: number;
  /** The time without calls and feeds after which a connection ends, in ms. Default 10 min. */
  readonly idleMs: number;
  /** The age at which a connection is closed, in ms, with 10 % jitter. Default 12 h. */
  readonly ageMs: number;
  /** The time of a batch, in ms. Default 30 s. */
  readonly batchMs: number;
  /** Frames of a batch. Default 256. */
  readonly batchFrames: number;
}

/** The default limits of sessions. */
export const DEFAULT_SESSION_LIMITS: SessionLimits = {
  authenticateMs: 10_000,
  firstFrameLength: 64 * 1024,
  connectionsPerAddress: 50,
  connections: 10_000,
  runningCalls: 64,
  runningLength: 32 * 1024 * 1024,
  unreleasedCalls: 1024,
  capabilities: 512,
  feeds: 64,
  callbacks: 64,
  unconsumedBytes: 8 * 1024 * 1024,
  outboundBytes: 16 * 1024 * 1024,
  waitingBytes: 128 * 1024 * 1024,
  pingMs: 25_000,
  idleMs: 10 * 60_000,
  ageMs: 12 * 60 * 60_000,
  batchMs: 30_000,
  batchFrames: 256,
};

/** Members of the path of a call. */
const PATH_LENGTH = 4;

/** The bounds of a connection. `frameLength` is the longest request. */
export function transportLimits(
  limits: SessionLimits,
  { bodyBytes, jsonItems }: Pick<RequestLimits, 'bodyBytes' | 'jsonItems'> = DEFAULT_REQUEST_LIMITS,
): TransportLimits {
  return {
    frameLength: bodyBytes,
    items: jsonItems,
    pathLength: PATH_LENGTH,
    calls: limits.unreleasedCalls,
    capabilities: limits.capabilities,
    callbacks: limits.callbacks,
    runningLength: Math.max(limits.runningLength, bodyBytes),
    unconsumedBytes: limits.unconsumedBytes,
    outboundBytes: limits.outboundBytes,
    pingMs: limits.pingMs,
  };
}
