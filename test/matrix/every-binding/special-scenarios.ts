/** Names of scenarios that some binding cannot play. */
export const CANCEL_METADATA = 'a cancel with metadata, seen by a stream and later';
export const HISTORY_LENGTH = 'a history of the wanted length';
export const RATE = 'a rate that is used up';
/** The limit of JSON texts. Protobuf has one of its own. */
export const TOO_DEEP = 'a request that nests too deeply';
export const TOO_LONG = 'a request that is too long';
