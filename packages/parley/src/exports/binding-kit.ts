// For bindings in packages beside this one, which name its exact version: these names may change in every version.
export { systemLookup } from '../adapters/node/checked-connections.js';
export { connectionCertificate, type ServerTls, serverTls } from '../adapters/node/server-tls.js';
export { STREAM_RESUME_EXTENSION } from '../agent-card/offered-extensions.js';
export type { AgentMount } from '../app/agent-mount.js';
export { directWay } from '../app/direct-way.js';
export type { HostEndpoint, HostExtension, HostView, ListenAddress } from '../app/host-extension.js';
export { pathSchema } from '../app/options/agents-by-path.js';
export { checkExposure } from '../app/options/server-options.js';
export { type TlsOptions, tlsSchema } from '../app/options/tls-options.js';
export { receivedChallenges } from '../auth/challenge.js';
export type { ClientCertificate } from '../auth/client-certificate.js';
export { callDirectly, type DirectReply } from '../bindings/direct/direct-binding.js';
export type { DirectAnswer, DirectCall, RequestDecoder } from '../bindings/direct/direct-call.js';
export type { BodyMeter } from '../bindings/http/body-budget.js';
export { givenOnce } from '../bindings/http/call-context.js';
export { reasonOf } from '../bindings/http/connection-reasons.js';
export { ERROR_STATUS, isErrorCode } from '../bindings/http/error-numbers.js';
export { answerBounds } from '../bindings/http/http-caller.js';
export { joined } from '../bindings/http/read-chunks.js';
export { type SaidDetails, saidDetails } from '../bindings/http/received-answer.js';
export { serviceHeaders } from '../bindings/http/service-parameters.js';
export { errorDetails, retryHeaders, toA2AError } from '../bindings/http/wire-error.js';
export {
  MissingOperationError,
  type OpenedStream,
  type ReceivedEvent,
  type TransportCall,
} from '../client/client-transport.js';
export { clientV0_3HttpJson } from '../codec/v0_3/client-codec.js';
export { PROTO_JSON } from '../codec/v0_3/dialect.js';
export { type OldOperation, operationOf, operations0_3 } from '../codec/v0_3/operations.js';
export { readResourceRequest, writeResourceRequest } from '../codec/v0_3/resource-requests.js';
export { writeStreamResponse } from '../codec/v0_3/stream-response.js';
export { v0_3HttpJson } from '../codec/v0_3/wire-codec.js';
export { clientV1_0 } from '../codec/v1_0/client-codec.js';
export { defaultOf } from '../codec/v1_0/closed-form.js';
export { OPERATIONS_1_0 } from '../codec/v1_0/operations.js';
export { toUtc } from '../codec/v1_0/timestamp.js';
export { v1_0 } from '../codec/v1_0/wire-codec.js';
export type { ErrorWords, WireForm } from '../codec/wire-codec.js';
export { ERROR_CODES } from '../errors/a2a-error.js';
export { receivedError } from '../errors/received-error.js';
export {
  InvalidAgentResponseError,
  UnsupportedOperationError,
  VersionNotSupportedError,
} from '../errors/spec-errors.js';
export { InvalidParamsError, tooManyItems } from '../errors/standard-errors.js';
export type { BoundInterface, Listed } from '../model/bound-interface.js';
export { MAX_NESTING } from '../model/json-fault.js';
export { isTimestamp } from '../model/timestamp.js';
export { TYPE_TABLE, type TypeName } from '../model/type-table.generated.js';
export { Destinations, destinationOf } from '../net/destinations.js';
export { isLoopback } from '../net/loopback.js';
export {
  answersCard,
  OPERATION_NAMES,
  type OperationName,
  type OperationTypes,
  type StreamingOperationName,
  type UnaryOperationName,
} from '../operations/operations.js';
export { isLegacy, majorMinor } from '../operations/versions.js';
export { listed, matching, nonEmpty } from '../options/option-schemas.js';
export { EqualTimers, type RunningTimer } from '../runtime/equal-timers.js';
export { LinkedList, type Place } from '../runtime/linked-list.js';
export { type WaitingHolder, WaitingMemory } from '../runtime/waiting-memory.js';
