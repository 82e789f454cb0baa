/** The revision of the draft of OpenTelemetry: open-telemetry/semantic-conventions-genai, pull request 195. */
export const CONVENTIONS_REVISION = 'semantic-conventions-genai#195 2026-10';

/** The buckets that the conventions advise for durations of calls of models and agents, in seconds. */
const AGENT_SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
/** Calls of a server need fewer: most of them read a task. */
const CALL_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const WAIT_SECONDS = [0.01, 0.05, 0.25, 1, 5, 15, 60, 300, 900, 3_600];
const BATCHES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

const buckets = (boundaries: readonly number[]) => ({ advice: { explicitBucketBoundaries: [...boundaries] } });

/**
 * Name, unit and meaning of each instrument; its comment has the rest of its row in docs/operations.md. The first ones
 * have the names that earlier revisions of the draft gave them: the newest has no metrics. They may move with a new
 * revision. The others are Parley's own.
 */
export const METRICS = {
  // Names of the draft.
  clientDuration: {
    name: 'a2a.client.operation.duration',
    unit: 's',
    description: 'Time of a call of a client, with its retries; of a stream, until its end',
    ...buckets(AGENT_SECONDS),
  },
  /** @attributes `operation`, `binding` */
  operationDuration: {
    name: 'a2a.server.operation.duration',
    unit: 's',
    description: 'Time to the answer; for a stream, time until it was open',
    ...buckets(CALL_SECONDS),
  },
  /**
   * `outcome` is the last state of the task in lower case, or `lost` if another process may go on.
   * @attributes `agent`, `outcome`
   */
  taskDuration: {
    name: 'a2a.server.task.duration',
    unit: 's',
    description: 'Time of a turn, from the call of its agent to its end in this process',
    ...buckets(AGENT_SECONDS),
  },
  /** @attributes `agent` */
  tasksInProgress: { name: 'a2a.server.task.in_progress', unit: '{turn}', description: 'Running turns' },
  /** @attributes `agent` */
  firstEvent: {
    name: 'a2a.server.response.time_to_first_event',
    unit: 's',
    description: 'Time from the call of an agent to its first output, question or end',
    ...buckets(AGENT_SECONDS),
  },
  // Parley's own.
  /**
   * `again`: after a crash or a hand-over. The time includes earlier attempts.
   * @attributes `agent`, `attempt`: `first`, `again`
   */
  queueWait: {
    name: 'a2a.server.queue.wait',
    unit: 's',
    description: 'Time from the acceptance of a message to the call of its agent',
    ...buckets(WAIT_SECONDS),
  },
  /**
   * Those of called agents are left out, and the types add up. `owner` is the id of a user, "" for anonymous callers,
   * and `_other` beyond 500 users ([costs](costs.md)).
   * @attributes `agent`, `owner`, `type`: `input`, `cached_input`, `output`
   * @counter
   */
  tokens: { name: 'a2a.server.tokens', unit: '{token}', description: 'Tokens of models, as agents have counted them' },
  /**
   * See [budgets](costs.md#budgets).
   * @attributes `agent`, `budget`
   * @counter
   */
  budgetsExceeded: {
    name: 'a2a.server.token_budgets.exceeded',
    unit: '{turn}',
    description: 'Turns that a budget of tokens has ended',
  },
  /**
   * `code` is `OK` or an [error](errors.md). If a request was no call, or was [refused](#requests-that-are-refused),
   * `code` is the status and the other attributes are `none`.
   * @attributes `operation`, `binding`, `version`, `code`
   * @counter
   */
  requests: { name: 'a2a.server.requests', unit: '{request}', description: 'Answered requests' },
  /**
   * `kind` is `http`, `jsonRpc` or `stream`. `code` is the status or the number of the [error](errors.md), `reason` its
   * name. [Refused](#requests-that-are-refused) requests count too.
   * @attributes `kind`, `code`, `reason`
   * @counter
   */
  errors: {
    name: 'a2a.server.errors',
    unit: '{error}',
    description: 'Errors that callers got: HTTP statuses, JSON-RPC errors, and errors that ended a stream',
  },
  /**
   * See [the names](#limits-that-are-reached).
   * @attributes `limit`
   * @counter
   */
  limitsReached: {
    name: 'a2a.server.limits.reached',
    unit: '{request}',
    description: 'Requests that a limit refused, and connections that one ended',
  },
  streamsOpen: { name: 'a2a.server.streams.open', unit: '{stream}', description: 'Open event streams' },
  /** On a storage of several processes only. */
  streamsLag: {
    name: 'a2a.server.streams.lag',
    unit: 's',
    description: 'Age of the oldest change of a watched task that was not read yet',
  },
  messagesWaiting: {
    name: 'a2a.server.messages.waiting',
    unit: '{message}',
    description: 'Stored messages whose turn has not started',
  },
  /** A message behind a running turn of its own task does not count. */
  oldestMessage: {
    name: 'a2a.server.messages.oldest_wait',
    unit: 's',
    description: 'Age of the oldest message that could start',
  },
  /**
   * On a storage of several processes only.
   * @counter
   */
  leasesLost: {
    name: 'a2a.server.leases.lost',
    unit: '{turn}',
    description: 'Turns that this process had to stop, because another one may run them',
  },
  /**
   * Those after an orderly stop count too. On a storage of several processes only.
   * @counter
   */
  takeovers: {
    name: 'a2a.server.takeovers',
    unit: '{turn}',
    description: 'Turns that this process took over from another one',
  },
  /** @attributes `result`: `hit`, `miss` @counter */
  cacheReads: {
    name: 'a2a.server.cache.reads',
    unit: '{read}',
    description: 'Reads of the cache, if there is one',
  },
  /** SQLite only. */
  commitSize: {
    name: 'a2a.storage.commit.size',
    unit: '{operation}',
    description: 'Operations that shared a commit of the storage',
    ...buckets(BATCHES),
  },
  /** The log names each once, without content. */
  unreadable: {
    name: 'a2a.storage.unreadable',
    unit: '{task}',
    description: 'Tasks that this process could not read since its start',
  },
  /** @attributes `result`: `delivered`, `failed` @counter */
  pushAttempts: {
    name: 'a2a.push.attempts',
    unit: '{attempt}',
    description: 'Attempts to deliver push notifications',
  },
  /** @counter */
  pushParked: {
    name: 'a2a.push.parked',
    unit: '{queue}',
    description: 'Webhooks that were parked after failed attempts',
  },
  pushInFlight: { name: 'a2a.push.in_flight', unit: '{request}', description: 'Requests to webhooks under way' },
  pushPending: {
    name: 'a2a.push.pending',
    unit: '{queue}',
    description: 'Webhooks with pending deliveries, without parked ones',
  },
  pushOldestDue: {
    name: 'a2a.push.oldest_due',
    unit: 's',
    description: 'Time for which the oldest pending delivery has been due',
  },
  /**
   * Parked webhooks do not count. A webhook no longer counts once its next attempt is late by 45 s more than
   * `timeoutMs`.
   */
  pushOldestWait: {
    name: 'a2a.push.oldest_wait',
    unit: 's',
    description: 'Time since the first failed attempt of the webhook that has failed for longest',
  },
  memory: { name: 'process.memory.usage', unit: 'By', description: 'Resident memory' },
  /** @attributes `state`: `used`, `total` */
  heap: { name: 'process.memory.heap', unit: 'By', description: 'JavaScript heap' },
  uptime: { name: 'process.uptime', unit: 's', description: 'Time since the start of the process' },
  /** @counter */
  cpu: { name: 'process.cpu.time', unit: 's', description: 'CPU time of all threads' },
  /** @attributes `statistic`: `mean`, `p50`, `p99`, `max` */
  eventLoopDelay: {
    name: 'nodejs.eventloop.delay',
    unit: 's',
    description: 'Delay of the event loop over about a minute',
  },
} as const;
