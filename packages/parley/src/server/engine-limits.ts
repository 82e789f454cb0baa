/** The engine's limits; all times in ms. */
export interface EngineLimits {
  /** From a cancel request to CANCELED by force; also what an agent has to return in after asking for input. */
  readonly cancelGraceMs: number;
  /** Longest time that a caller waits for a storage that does not answer or cannot write; then it hears UNAVAILABLE. */
  readonly storagePatienceMs: number;
  /** Longest turn; then the task ends in FAILED. The time in which it waits for a login does not count. */
  readonly turnDeadlineMs: number;
  /** Messages that wait on a task whose turn runs; more are refused. */
  readonly waitingMessages: number;
  /** Uncommitted events of a turn before its agent has to wait. */
  readonly bufferEvents: number;
  /** Uncommitted bytes of a turn, those of the commit under way included, before its agent has to wait. */
  readonly bufferBytes: number;
  /** Uncommitted events of a turn whose agent does not wait; with more its task fails. */
  readonly overrunEvents: number;
  /** JSON of a task at most; what would make it larger fails it. */
  readonly taskBytes: number;
  /** Longest wait of an artifact chunk for others in the same commit. */
  readonly commitDelayMs: number;
  /** Records of a task after its last snapshot, in bytes, before the next one is due (at least the task's own size). */
  readonly snapshotTailBytes: number;
  /** Events held in memory for one reader that does not keep up; beyond it the reader is fed from the log. */
  readonly readerBufferBytes: number;
  /** A reader that is behind and takes nothing for this long is dropped; it can resume. */
  readonly readerStallMs: number;
  /** Length of a lease without a heartbeat, on a shared storage. On other storages leases do not end. */
  readonly leaseMs: number;
  readonly heartbeatMs: number;
  /** An agent is told to stop this long before the end of a lease that could not be renewed. */
  readonly fenceMarginMs: number;
  /** Interval in which streams and waiting callers look at tasks of other processes. Wake-ups are faster. */
  readonly lookMs: number;
  /** Running turns of all agents beyond which the process claims no more. Messages to this process always run. */
  readonly runningTurns: number;
  /** Attempts of a turn whose process dies. */
  readonly maxAttempts: number;
  /** A task that waits for its caller longer than this ends in FAILED. */
  readonly waitingExpiryMs: number;
  /** Interval of the expiry check. */
  readonly expiryCheckMs: number;
  /** Task references, extensions and output modes of a message at most, each of them counted once. */
  readonly listItems: number;
  /** Bytes of referenced tasks that an agent is given at most. */
  readonly referenceBytes: number;
  /** Messages of the history in a list whose request does not say how many. */
  readonly listedHistory: number;
  /** JSON of a page of a list, about; a page that would be longer ends early, after at least one task. */
  readonly pageBytes: number;
}

/** A hundred years. */
export const UNENDING_MS = 3_155_760_000_000;

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
  snapshotTailBytes: 65_536,
  readerBufferBytes: 1_048_576,
  readerStallMs: 30_000,
  leaseMs: 15_000,
  heartbeatMs: 5_000,
  fenceMarginMs: 1_000,
  lookMs: 5_000,
  runningTurns: 1_000,
  maxAttempts: 3,
  waitingExpiryMs: 7 * 86_400_000,
  expiryCheckMs: 60_000,
  listItems: 32,
  referenceBytes: 33_554_432,
  listedHistory: 10,
  pageBytes: 8_388_608,
};
