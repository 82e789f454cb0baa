/** Names of scenarios that some binding cannot play. */
export const CANCEL_METADATA = 'a cancel with metadata, seen by a stream and later';
export const HISTORY_LENGTH = 'a history of the wanted length';
export const RATE = 'a rate that is used up';
/** Dates, and members without a value. */
export const VALUES = 'values whose JSON is another value';
/** Data of so many levels that no binding reads it to the end. */
export const ENDLESS = 'data that nests without end';
export const TOO_LONG = 'a request that is too long';
/** An extension that a call declares. */
export const DECLARED = 'nothing, once the extension is declared';
export const SEVERAL = 'several subscribers, one of whom leaves, until another client ends the task';
export const RESUMED = 'a stream that goes on after an event';
export const WEBHOOKS = 'webhooks of a task: several, read, listed, deleted twice';
export const LAST_STREAM = 'the last stream that one user may have';
/** Needs an extension that the client declares. */
export const AS_URL = 'a large part, for a client that takes urls';
/** Its statuses have metadata. */
export const CALLED = 'a call of another agent, its stream mapped';
/** Scenarios that need subscriptions or webhooks beside the messages. */
export const SUBSCRIBING: readonly string[] = [SEVERAL, RESUMED, WEBHOOKS, LAST_STREAM];
/** The version of a session, or of a process, is not one of each call. */
export const OTHER_VERSION = 'a version that the agent does not offer';
/** The one error with another text in JSON-RPC, HTTP+JSON and gRPC of 0.3. */
export const NO_EXTENDED_CARD = 'EXTENDED_AGENT_CARD_NOT_CONFIGURED of the agent';
