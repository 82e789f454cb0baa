import { capnwebExtension } from '../app/capnweb/capnweb-extension.js';
import type { HostExtension } from '../app/host-extension.js';
import { type CapnwebBindingOptions, capnwebBindingSchema } from '../app/options/capnweb-options.js';
import { checkOptions } from '../options/check-options.js';

export type { CapnwebBindingOptions } from '../app/options/capnweb-options.js';
export { CAPNWEB_BATCH_BINDING, CAPNWEB_BINDING } from '../bindings/capnweb/binding-uris.js';
export { LoggingCallback } from '../bindings/capnweb/logging-callback.js';
export type {
  A2AService,
  AuthenticatedA2AService,
  CallbackSubscription,
  ListedTasks,
  PlainCredential,
  StreamingTask,
  TaskCallback,
  TaskListFilter,
} from '../bindings/capnweb/plain-types.js';
export type { SessionLimits } from '../bindings/capnweb/session-limits.js';
export type { ArtifactEvent, StatusEvent } from '../codec/v0_3/wire-types.js';
export type { Listed } from '../model/bound-interface.js';

/**
 * Serves the agents of a server over Cap'n Web: a session on a WebSocket at `/{agent}/capnweb`, or at `/a2a/capnweb`
 * for an agent at the root. Needs the package `capnweb`, and `ws` on Node.js.
 * @throws OptionsError naming every option that is unknown or wrong.
 */
export function capnwebBinding(options: CapnwebBindingOptions = {}): HostExtension {
  checkOptions({ subject: 'capnwebBinding', schema: capnwebBindingSchema, options });
  const { limits, batch = true, listed } = options;
  return capnwebExtension({ limits, batch, listed, random: Math.random });
}

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
} from '../bindings/capnweb/capability-client.js';
export type { TaskFile } from '../bindings/capnweb/client-files.js';
export type { WatchCallback, WatchSubscription } from '../bindings/capnweb/client-watch.js';
export type { WebSocketEvent, WebSocketLike } from '../bindings/http/web-socket-port.js';
export {
  type CapnwebTransportOptions,
  type ConnectCapnwebOptions,
  capnwebTransport,
  connectCapnweb,
} from './capnweb-transport.js';
