/** The limits of a single call, by the names of their options. An error that one of them causes names it. */
export const CALL_LIMITS = [
  'batchFrames',
  'bodyBytes',
  'bodyMemory',
  'idLength',
  'idleMs',
  'jsonDepth',
  'jsonItems',
  'listItems',
  'maxBytes',
  'maxConfigs',
  'maxMessageBytes',
  'ownerBytes',
  'parts',
  'storeBytes',
  'streams',
  'turns',
  'uploadMs',
  'waitingMessages',
  'waitingPasswords',
] as const;

/** The limits that refuse requests or end connections, by their names in errors, metrics and logs. */
export type LimitName =
  | (typeof CALL_LIMITS)[number]
  /** Rates. */
  | 'address'
  | 'principal'
  /** A limit of the agent itself. */
  | 'agent'
  /** Limits of connections. */
  | 'authenticateMs'
  | 'bytesOfNoUse'
  | 'callbacks'
  | 'capabilities'
  | 'chunkExtensionBytes'
  | 'connections'
  | 'feeds'
  | 'files'
  | 'frame'
  | 'headBytes'
  | 'headersMs'
  | 'maxCalls'
  | 'maxConnections'
  | 'maxMetadataBytes'
  | 'maxStreams'
  | 'outboundBytes'
  | 'pings'
  | 'pipelined'
  | 'requestMs'
  | 'resets'
  | 'runningCalls'
  | 'runningLength'
  | 'settings'
  | 'stallMs'
  | 'unconsumedBytes'
  | 'unreleasedCalls'
  | 'waitingBytes';

/** A limit that refused a request. For metrics, logs and audit logs. */
export interface ReachedLimit {
  readonly limit: LimitName;
  /**
   * The user or the address with the limit. Absent: the limit applies to all callers together, or the caller has no
   * address.
   */
  readonly caller?: string | undefined;
  /** The id of the request in the log. */
  readonly requestId?: string | undefined;
}
