/** Limits of the engine. All times are in ms. */
export interface EngineLimits {
  /**
   * From a cancel request to CANCELED by force. An agent also has this time to return after a question or a final
   * state.
   */
  readonly cancelGraceMs: number;
  /** Longest wait of a caller for a storage that does not answer or cannot write. Then it gets `UNAVAILABLE`. */
  readonly storagePatienceMs: number;
  /** Longest turn. Then the task ends in FAILED. Waiting for an authorization does not count. */
  readonly turnDeadlineMs: number;
  /** Messages that wait on a task while its turn runs. More are refused. */
  readonly waitingMessages: number;
  /** Uncommitted events of a turn before its agent has to wait. */
  readonly bufferEvents: number;
  /** Uncommitted bytes of a turn before its agent has to wait, including those of the running commit. */
  readonly bufferBytes: number;
  /** Uncommitted events of a turn whose agent does not wait. With more, its task fails. */
  readonly overrunEvents: number;
  /** Bytes of a task as JSON. An event that would make the task larger fails it. */
  readonly taskBytes: number;
  /** Longest wait of an artifact chunk for others in the same commit. */
  readonly commitDelayMs: number;
  /**
   * A task gets a new snapshot once the records since the last one have more bytes than this and than that snapshot.
   */
  readonly snapshotLogBytes: number;
  /** Bytes of events in memory for one slow reader. Beyond it the reader reads the log. */
  readonly readerBufferBytes: number;
  /** A slow reader that takes nothing for this long is disconnected. It can resume. */
  readonly readerStallMs: number;
  /** Length of a lease without a renewal, on a shared storage. On other storages leases do not end. */
  readonly leaseMs: number;
  /** Time between two renewals of the leases of a process, with which it also looks for turns to claim. */
  readonly leaseRenewalMs: number;
  /** Time between the signal to stop and the end of a lease that could not be renewed. */
  readonly fenceMarginMs: number;
  /** Interval in which streams and waiting callers look at tasks of other processes. Wake-ups are faster. */
  readonly lookMs: number;
  /** Running turns of all agents beyond which the process claims no more. Messages to this process always run. */
  readonly runningTurns: number;
  /** Attempts of a turn whose process dies. */
  readonly maxAttempts: number;
  /** Longest wait of a task for its caller. Then the task ends in FAILED. */
  readonly waitingExpiryMs: number;
  /** Time in which a caller must authorize an agent that asks for it, unless the agent says another time. */
  readonly authorizationMs: number;
  /** Interval of the expiry check. */
  readonly expiryCheckMs: number;
  /** Distinct task references, extensions or output modes of one message, each. More are `INVALID_PARAMS`. */
  readonly listItems: number;
  /** Bytes of the tasks from `referenceTasks()` in one turn. The rest is left out. */
  readonly referenceBytes: number;
  /** Messages of the history in a list, if the request does not say how many. */
  readonly listedHistory: number;
  /** Approximate bytes of a page of a list. A longer page ends early, with a token, after at least one task. */
  readonly pageBytes: number;
}

/** The default limits. */
export const DEFAULT_ENGINE_LIMITS: EngineLimits = {
  cancelGraceMs: 5_000,
  storagePatienceMs: 10_000,
  turnDeadlineMs: 3_600_000,
  waitingMessages: 16,
  bufferEvents: 256,
  bufferBytes: 131_072,
  overrunEvents: 16_384,
  taskBytes: 67_108_864,
  commitDelayMs: 2,
  snapshotLogBytes: 65_536,
  readerBufferBytes: 1_048_576,
  readerStallMs: 30_000,
  leaseMs: 15_000,
  leaseRenewalMs: 5_000,
  fenceMarginMs: 1_000,
  lookMs: 5_000,
  runningTurns: 1_000,
  maxAttempts: 3,
  waitingExpiryMs: 7 * 86_400_000,
  authorizationMs: 3_600_000,
  expiryCheckMs: 60_000,
  listItems: 32,
  referenceBytes: 33_554_432,
  listedHistory: 10,
  pageBytes: 8_388_608,
};
