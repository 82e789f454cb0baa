import type { Authenticator } from '../../auth/authenticator.js';
import type { ErrorCode } from '../../errors/a2a-error.js';
import type { AgentCard } from '../../model/agent-card.js';
import type { ContentModes } from '../../operations/content-types.js';
import type { Clock } from '../../runtime/clock.js';
import type { RequestHandler } from '../../server/request-handler.js';
import type { Logger } from '../../telemetry/logger.js';
import type { Tally } from '../../telemetry/tally.js';
import type { BodyBudget } from './body-budget.js';

/** How much one request may bring. */
export interface RequestLimits {
  readonly bodyBytes: number;
  /** Nesting of objects and arrays in a JSON body. */
  readonly jsonDepth: number;
  /** Parts of one message. */
  readonly parts: number;
  /** Characters of an id: of a tenant, context, task, message, configuration, JSON-RPC request. */
  readonly idLength: number;
}

/** The limits of an endpoint that says nothing else. */
export const DEFAULT_REQUEST_LIMITS: RequestLimits = {
  bodyBytes: 10 * 1024 * 1024,
  jsonDepth: 100,
  parts: 1000,
  idLength: 1024,
};

/** Silence on a stream after which a comment shows that it lives. */
export const DEFAULT_HEARTBEAT_MS = 15_000;

/** All that a binding needs of one agent. */
export interface AgentEndpoint {
  readonly handler: RequestHandler;
  /**
   * The public card: capabilities, extensions, and per binding the versions offered. Give the same object for as long
   * as nothing in it changes; what follows from it is worked out once per object.
   */
  card(): AgentCard;
  /** The media types that its author declares; absent: none are refused. */
  readonly modes?: ContentModes;
  /** Absent: every caller is anonymous. */
  readonly authenticator?: Authenticator;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly limits: RequestLimits;
  /** Bounds the memory of large bodies; shared by all agents of a host. Absent: no bound. */
  readonly bodies?: BodyBudget;
  readonly heartbeatMs: number;
  /** The version of a call that names none: `0.3` says the specification (Spec §3.6.2). */
  readonly versionWhenAbsent: string;
  /** Where the streams that are open are counted. */
  readonly openStreams?: Tally;
  /** Called for each error that ends a stream after its start. */
  readonly streamBroke?: (code: ErrorCode) => void;
}
