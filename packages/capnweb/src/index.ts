import type { HostExtension } from 'parley-a2a/binding-kit';
import { checkOptions } from 'parley-a2a/kit';
import { capnwebExtension } from './server/capnweb-extension.js';
import { type CapnwebBindingOptions, capnwebBindingSchema } from './server/capnweb-options.js';

export type { Listed } from 'parley-a2a/binding-kit';
export type { ArtifactEvent, PlainCredential, StatusEvent } from 'parley-a2a/v0_3';
export { CAPNWEB_BATCH_BINDING, CAPNWEB_BINDING } from './binding/binding-uris.js';
export { LoggingCallback } from './binding/logging-callback.js';
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
export type { CapnwebBindingOptions } from './server/capnweb-options.js';

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
