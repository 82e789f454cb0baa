// For the packages beside this one, which name its exact version: these names may change in every version.
export { type SignerKeys, signerKeys } from '../agent-card/signatures/private-keys.js';
export type { AgentPlace, AroundAgent } from '../app/host-extension.js';
export { SchemeCredentials } from '../auth/credentials/scheme-credentials.js';
export { KeySet, type TokenKeys } from '../auth/tokens/key-set.js';
export { RemoteKeys } from '../auth/tokens/remote-keys.js';
export { TokenDocuments, urlFault } from '../auth/tokens/token-documents.js';
export { type KeyTimes, keySetSchema, keyTimesSchema } from '../auth/tokens/token-options.js';
export { enterTrace } from '../bindings/http/call-context.js';
export { globMatcher } from '../cache/glob.js';
export { pendingOptions } from '../client/pending-options.js';
export { isWaitOver } from '../client/task-waiting.js';
export { joinParts, textOf } from '../client/text-of.js';
export { decodeType } from '../codec/v1_0/decode-type.js';
export { A2AError } from '../errors/a2a-error.js';
export { CacheError } from '../errors/cache-error.js';
export { beginAtCaller } from '../errors/callers-stack.js';
export { ConnectionError } from '../errors/connection-error.js';
export { CredentialsError } from '../errors/credentials-error.js';
export { OptionsError } from '../errors/options-error.js';
export { refusedAddressIn } from '../errors/refused-address-error.js';
export { StorageError } from '../errors/storage-error.js';
export { type FileArrival, FileArrivals } from '../files/arrivals.js';
export { newDigester } from '../files/digester.js';
export { quotaReached, uploadTooLong } from '../files/file-errors.js';
export { type FileOwner, isFileId, quotaBytes } from '../files/file-store.js';
export type { ErasedFiles, OwnedFile, OwnerFiles } from '../files/owner-files.js';
export { OwnerQuotas, type QuotaReservation } from '../files/owner-quotas.js';
export { UploadOffsetError } from '../files/upload-store.js';
export { isBase64 } from '../model/base64.js';
export { canonicalJson } from '../model/canonical-json.js';
export { isObject } from '../model/json.js';
export { jsonFault } from '../model/json-fault.js';
export { isInterrupted, isTerminal, TASK_STATES } from '../model/task-state.js';
export { isPart } from '../model/validation.js';
export type { DocumentFetch } from '../net/bounded-fetch.js';
export { type EventFrame, FrameParser } from '../net/frame-parser.js';
export { BY_VERB } from '../operations/operations.js';
export { ENCRYPTION_EXTENSION, SIGNING_EXTENSION } from '../operations/signing-extensions.js';
export { checkOptions } from '../options/check-options.js';
export {
  count,
  eitherOf,
  flag,
  func,
  mapOf,
  nonEmpty,
  type OptionSchemas,
  optionObject,
  positive,
  text,
  texts,
  withMethod,
} from '../options/option-schemas.js';
export * as Type from '../options/option-types.js';
export { refuseArgument } from '../options/refuse-argument.js';
export { toBase64 } from '../runtime/base64-bytes.js';
export { LoadedOnDemand } from '../runtime/loaded-on-demand.js';
export { ignoreRejection } from '../runtime/settled.js';
export { sha256Hex } from '../runtime/sha256.js';
export { SecretBox } from '../secrets/secret-box.js';
export { DEFAULT_ENGINE_LIMITS } from '../server/engine-limits.js';
export { MORE_FOLLOWS, type RawEvent } from '../server/event-queue.js';
export { cloneJson } from '../server/execution/clone-json.js';
export { turnTrace } from '../server/execution/turn-context.js';
export type { TurnTrace } from '../server/execution/turn-trace.js';
export { type HandlerMethod, mapHandler } from '../server/map-handler.js';
export { modelParts } from '../server/model-stream.js';
export { openLazily } from '../server/open-lazily.js';
export { controlPart } from '../server/own-part.js';
export { changeQuestions, type QuestionChange } from '../server/question-change.js';
export { readableConversation, readableFiles } from '../server/readable-files.js';
export { type StoredMessageReader, tellReadable, tellReader } from '../server/readable-message.js';
export { attemptTrace, TRACE_METADATA } from '../task/attempt-trace.js';
export { providerUsage } from '../task/token-usage.js';
export { silentLogger } from '../telemetry/logger.js';
export { CONVENTIONS_REVISION, METRICS } from '../telemetry/metric-names.js';
export { printableText } from '../telemetry/printable-text.js';
export { withoutSecretFields, withoutSecrets } from '../telemetry/redaction.js';
export { steadyLogger } from '../telemetry/steady-logger.js';
export { LOG_LEVELS } from '../telemetry/text-logger.js';
export {
  type AttemptTrace,
  isSampled,
  type LostAttempt,
  type TraceContext,
  type TracedDelivery,
  type TracedResult,
  type TracedTool,
  type Tracing,
  tracingOf,
  type WaitingCall,
} from '../telemetry/tracing.js';
export { type AnswerReading, choicesOf, fieldsOf, fieldValue, readAnswer, readText } from '../tools/answer-reading.js';
export { askedCallIds, decidedCalls, isExpired, refusalOf, waitingCalls } from '../tools/approval-decisions.js';
export { guardTurn } from '../tools/guarded-events.js';
export { interruptsIn, type OpenQuestion, openQuestions } from '../tools/open-questions.js';
export { approvalQuestion, approvalsIn, decisionsIn, namesDecisions, UNDECIDED } from '../tools/tool-approvals.js';
export { DEFAULT_TOOL_LIMITS, interruptedText } from '../tools/tool-execution.js';
export { formLines } from '../tools/tool-questions.js';
export {
  type CallChange,
  canceledChange,
  isFinished,
  nextCall,
  type RecordedCall,
  recordedCalls,
  recordPart,
  TOOLS_ARTIFACT,
  TOOLS_CARD_EXTENSION,
  TOOLS_EXTENSION,
} from '../tools/tool-records.js';
export { ToolRegistry } from '../tools/tool-registry.js';
export { untrustedSchema } from '../tools/untrusted-schema.js';
export { guardedFetch } from './guarded-fetch.js';
export { callerClock, callerIds, systemClock, systemIds } from './runtime.js';
export { stderrLogger } from './stderr-logger.js';
