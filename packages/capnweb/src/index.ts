import type { Logger } from 'parley-a2a';
import { type HostExtension, type Listed, listed } from 'parley-a2a/binding-kit';
import { checkOptions, flag, type OptionSchemas, optionObject, positive, Type } from 'parley-a2a/kit';
import type { ArtifactEvent, StatusEvent } from 'parley-a2a/v0_3';
import { DEFAULT_SESSION_LIMITS, type SessionLimits } from './binding/session-limits.js';
import { capnwebExtension } from './server/capnweb-extension.js';

/** The options of `capnwebBinding`. */
export interface CapnwebBindingOptions {
  /**
   * Limits of connections and sessions. The others keep their defaults.
   * @see docs/capnweb.md#limits
   */
  readonly limits?: Partial<SessionLimits>;
  /**
   * False if the path takes no batches over POST. Default true.
   * @see docs/capnweb.md#batches
   */
  readonly batch?: boolean;
  /**
   * The cards that list the interfaces: `public` for all, `extended` for the extended one only, `never` for none.
   * Default: all cards list the interfaces of 1.0. None lists that of 0.3, because clients of 0.3 refuse a card with an
   * unknown transport.
   * @see docs/hosts.md#interfaces-that-a-card-lists
   */
  readonly listed?: Listed;
}

const limits = Object.keys(DEFAULT_SESSION_LIMITS).map((name) => [name, Type.Optional(positive)] as const);

const schemas: OptionSchemas<CapnwebBindingOptions> = {
  limits: Type.Optional(optionObject(Object.fromEntries(limits))),
  batch: Type.Optional(flag),
  listed,
};

/** The schema of CapnwebBindingOptions. */
const capnwebBindingSchema = optionObject(schemas);

export type { Listed } from 'parley-a2a/binding-kit';
export type { ArtifactEvent, PlainCredential, StatusEvent } from 'parley-a2a/v0_3';
export { CAPNWEB_BATCH_BINDING, CAPNWEB_BINDING } from './binding/binding-uris.js';
export type {
  A2AService,
  AuthenticatedA2AService,
  CallbackSubscription,
  ListedTasks,
  StreamingTask,
  TaskCallback,
  TaskListFilter,
} from './binding/plain-types.js';
export type { SessionLimits } from './binding/session-limits.js';

/**
 * Serves the agents of a server over Cap'n Web: a session on a WebSocket at `/{agent}/capnweb`, or at `/a2a/capnweb`
 * for an agent at the root.
 * @throws OptionsError naming every option that is unknown or wrong.
 */
export function capnwebBinding(options: CapnwebBindingOptions = {}): HostExtension {
  checkOptions({ subject: 'capnwebBinding', schema: capnwebBindingSchema, options });
  const { limits, batch = true, listed } = options;
  return capnwebExtension({ limits, batch, listed, random: Math.random });
}

export type { WebSocketEvent, WebSocketLike } from 'parley-a2a/binding-kit';
export {
  CapnwebAgent,
  type CapnwebEvent,
  CapnwebFeed,
  CapnwebTask,
  type CapnwebTaskView,
  type FileContent,
  type SentMessage,
  type StreamedMessage,
  type StreamedPart,
} from './binding/capability-client.js';
export type { TaskFile } from './binding/client-files.js';
export type { WatchCallback, WatchSubscription } from './binding/client-watch.js';
export {
  type CapnwebTransportOptions,
  type ConnectCapnwebOptions,
  capnwebTransport,
  connectCapnweb,
} from './capnweb-transport.js';

/** A callback that writes each event to a logger. */
export class LoggingCallback {
  /** @param logger Gets one line per event. */
  constructor(logger: Pick<Logger, 'info'>) {
    const status = ({ taskId, status: { state } }: StatusEvent) => logger.info('task status', { taskId, state });
    const artifact = ({ taskId, artifact: { artifactId } }: ArtifactEvent) =>
      logger.info('task artifact', { taskId, artifactId });
    this.onStatusUpdate = status;
    this.onArtifactUpdate = artifact;
    // Cap'n Web passes functions only of plain objects.
    Object.setPrototypeOf(this, Object.prototype);
  }

  readonly onStatusUpdate: (event: StatusEvent) => void;
  readonly onArtifactUpdate: (event: ArtifactEvent) => void;
}
