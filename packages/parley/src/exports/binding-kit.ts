// For bindings in packages beside this one, which name its exact version: these names may change in every version.
export { checkedLookup } from '../adapters/node/checked-connections.js';
export { modulesOfNode, systemLookup } from '../adapters/node/modules-of-node.js';
export { connectionCertificate, type ServerTls, serverTls } from '../adapters/node/server-tls.js';
export { STREAM_RESUME_EXTENSION } from '../agent-card/offered-extensions.js';
export type { AgentMount } from '../app/agent-mount.js';
export { directWay, directWayFor } from '../app/direct-way.js';
export type { HostEndpoint, HostExtension, HostView, ListenAddress } from '../app/host-extension.js';
export { errorAnswer, jsonAnswer } from '../app/json-answer.js';
export { otherMethod, readOnly } from '../app/middleware/method-filter.js';
export type { MiddlewareName } from '../app/middleware/request-way.js';
export { pathSchema } from '../app/options/agents-by-path.js';
export { checkExposure } from '../app/options/server-options.js';
export { type TlsOptions, tlsSchema } from '../app/options/tls-options.js';
export { receivedChallenges } from '../auth/challenge.js';
export type { ClientCertificate } from '../auth/client-certificate.js';
export { isFromOtherSite } from '../auth/cross-site.js';
export { callDirectly, type DirectReply } from '../bindings/direct/direct-binding.js';
export type { DirectAnswer, DirectCall, RequestDecoder } from '../bindings/direct/direct-call.js';
export { tellLimit } from '../bindings/http/answer-call.js';
export { DEFAULT_REQUEST_LIMITS } from '../bindings/http/binding-context.js';
export type { BodyMeter } from '../bindings/http/body-budget.js';
export { singleValue } from '../bindings/http/call-context.js';
export { connectionFault } from '../bindings/http/connection-fault.js';
export { reasonOf } from '../bindings/http/connection-reasons.js';
export { codingHeaders, refusedCoding } from '../bindings/http/content-coding.js';
export { endedCredentialError } from '../bindings/http/ended-credential.js';
export { ERROR_STATUS, httpStatus, isErrorCode } from '../bindings/http/error-numbers.js';
export { answerBounds } from '../bindings/http/http-caller.js';
export { essence } from '../bindings/http/media-type.js';
export { joinChunks } from '../bindings/http/read-chunks.js';
export { readDetails, type SaidDetails } from '../bindings/http/received-answer.js';
export { serviceHeaders } from '../bindings/http/service-parameters.js';
export type { SocketPort, SocketReceiver, WebSocketUpgrade } from '../bindings/http/socket-port.js';
export { openWebSocket, type WebSocketEvent, type WebSocketLike } from '../bindings/http/web-socket-port.js';
export { errorDetails, retryHeaders, toA2AError } from '../bindings/http/wire-error.js';
export { RESUME_ATTEMPTS } from '../client/client.js';
export {
  MissingOperationError,
  type OpenedStream,
  type ReceivedEvent,
  type TransportCall,
} from '../client/client-transport.js';
export { observeStream } from '../client/files/sent-stream.js';
export { isTransient } from '../client/send-retries.js';
export { encodeHybridCard } from '../codec/hybrid-card.js';
export { clientV0_3HttpJson } from '../codec/v0_3/client-codec.js';
export { KINDS, PROTO_JSON } from '../codec/v0_3/dialect.js';
export { writeMessage } from '../codec/v0_3/message.js';
export { type OldOperation, operationOf, operations0_3 } from '../codec/v0_3/operations.js';
export { readResourceRequest, writeResourceRequest } from '../codec/v0_3/resource-requests.js';
export { writeStreamResponse } from '../codec/v0_3/stream-response.js';
export { readTaskState, writeArtifact, writeTask, writeTaskStatus } from '../codec/v0_3/task.js';
export { v0_3HttpJson, v0_3JsonRpc } from '../codec/v0_3/wire-codec.js';
export { clientV1_0 } from '../codec/v1_0/client-codec.js';
export { defaultOf } from '../codec/v1_0/closed-form.js';
export { OPERATIONS_1_0 } from '../codec/v1_0/operations.js';
export { toUtc } from '../codec/v1_0/timestamp.js';
export { v1_0 } from '../codec/v1_0/wire-codec.js';
export type { ErrorWords, WireCodec, WireForm } from '../codec/wire-codec.js';
export { ERROR_CODES } from '../errors/a2a-error.js';
export { receivedError } from '../errors/received-error.js';
export { RefusedAddressError } from '../errors/refused-address-error.js';
export { ServerClosingError } from '../errors/server-closing-error.js';
export {
  InvalidAgentResponseError,
  UnsupportedOperationError,
  VersionNotSupportedError,
} from '../errors/spec-errors.js';
export {
  InternalError,
  InvalidParamsError,
  repeatedFieldError,
  tooDeep,
  tooManyItems,
  UnauthenticatedError,
} from '../errors/standard-errors.js';
export { toStandardBase64 } from '../model/base64.js';
export { type BoundInterface, type Listed, listedInterfaces } from '../model/bound-interface.js';
export { ENVELOPE_LEVELS, MAX_NESTING } from '../model/json-fault.js';
export { passedBound } from '../model/json-scan.js';
export { isTimestamp } from '../model/timestamp.js';
export { TYPE_TABLE, type TypeName } from '../model/type-table.generated.js';
export { Destinations, destinationOf } from '../net/destinations.js';
export { parseIp } from '../net/ip-address.js';
export { isLoopback } from '../net/loopback.js';
export { isPublicAddress } from '../net/public-address.js';
export {
  answersCard,
  isStreaming,
  OPERATION_NAMES,
  OPERATIONS,
  type OperationName,
  type OperationResponse,
  type OperationTypes,
  type StreamingOperationName,
  takesMessage,
  type UnaryOperationName,
} from '../operations/operations.js';
export { isLegacy, majorMinor } from '../operations/versions.js';
export { listed, nonEmpty, pattern } from '../options/option-schemas.js';
export { EqualTimers, type RunningTimer } from '../runtime/equal-timers.js';
export { KeyedPlaces } from '../runtime/keyed-places.js';
export { LinkedList, type Place } from '../runtime/linked-list.js';
export { TurnBudget } from '../runtime/turn-budget.js';
export { type WaitingHolder, WaitingMemory } from '../runtime/waiting-memory.js';
export { eventBytes } from '../task/event-bytes.js';
export type { ItemSource } from '../task/stream-item.js';
export { DEFAULT_PAGE_SIZE } from '../task/task-list.js';
