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
 * Name, unit and meaning of each instrument. The first ones have the names that earlier revisions of the draft gave
 * them: the newest has no metrics. They may move with a new revision. The others are Parley's own.
 */
export const METRICS = {
  // Names of the draft.
  clientDuration: {
    name: 'a2a.client.operation.duration',
    unit: 's',
    description: 'Time of a call of a client, with its retries; of a stream, until its end',
    ...buckets(AGENT_SECONDS),
  },
  operationDuration: {
    name: 'a2a.server.operation.duration',
    unit: 's',
    description: 'Time until a request was answered; of a stream, until it was open',
    ...buckets(CALL_SECONDS),
  },
  taskDuration: {
    name: 'a2a.server.task.duration',
    unit: 's',
    description: 'Time of a turn, from the call of its agent to its end in this process',
    ...buckets(AGENT_SECONDS),
  },
  tasksInProgress: { name: 'a2a.server.task.in_progress', unit: '{turn}', description: 'Turns of agents that run now' },
  firstEvent: {
    name: 'a2a.server.response.time_to_first_event',
    unit: 's',
    description: 'Time from the call of an agent to its first output, question or end',
    ...buckets(AGENT_SECONDS),
  },
  // Parley's own.
  queueWait: {
    name: 'a2a.server.queue.wait',
    unit: 's',
    description: 'Time from the storing of a message to the call of its agent',
    ...buckets(WAIT_SECONDS),
  },
  tokens: { name: 'a2a.server.tokens', unit: '{token}', description: 'Tokens of models, as agents have counted them' },
  budgetsExceeded: {
    name: 'a2a.server.token_budgets.exceeded',
    unit: '{turn}',
    description: 'Turns that a budget of tokens has ended',
  },
  requests: { name: 'a2a.server.requests', unit: '{request}', description: 'Requests that were answered' },
  errors: {
    name: 'a2a.server.errors',
    unit: '{error}',
    description: 'Errors that callers were told: HTTP statuses, JSON-RPC errors, and errors that ended a stream',
  },
  limitsReached: {
    name: 'a2a.server.limits.reached',
    unit: '{request}',
    description: 'Requests that a limit of rate or load refused',
  },
  streamsOpen: { name: 'a2a.server.streams.open', unit: '{stream}', description: 'Event streams that are open now' },
  streamsLag: {
    name: 'a2a.server.streams.lag',
    unit: 's',
    description: 'Age of the oldest change of a watched task that was not read yet',
  },
  messagesWaiting: {
    name: 'a2a.server.messages.waiting',
    unit: '{message}',
    description: 'Messages whose turn nobody runs yet',
  },
  oldestMessage: {
    name: 'a2a.server.messages.oldest_wait',
    unit: 's',
    description: 'Age of the oldest message that could start',
  },
  leasesLost: {
    name: 'a2a.server.leases.lost',
    unit: '{turn}',
    description: 'Turns that another process may have taken over',
  },
  takeovers: {
    name: 'a2a.server.takeovers',
    unit: '{turn}',
    description: 'Turns that this process took over from another one',
  },
  cacheReads: {
    name: 'a2a.server.cache.reads',
    unit: '{read}',
    description: 'Reads of the cache, by whether it had what was asked for',
  },
  commitSize: {
    name: 'a2a.storage.commit.size',
    unit: '{operation}',
    description: 'Operations that shared a commit of the storage',
    ...buckets(BATCHES),
  },
  unreadable: {
    name: 'a2a.storage.unreadable',
    unit: '{task}',
    description: 'Tasks that this process could not read',
  },
  pushAttempts: {
    name: 'a2a.push.attempts',
    unit: '{attempt}',
    description: 'Attempts to deliver push notifications, by result',
  },
  pushParked: {
    name: 'a2a.push.parked',
    unit: '{queue}',
    description: 'Push configurations that were parked after failed attempts',
  },
  pushInFlight: { name: 'a2a.push.in_flight', unit: '{request}', description: 'Requests to webhooks under way' },
  pushPending: {
    name: 'a2a.push.pending',
    unit: '{queue}',
    description: 'Push configurations with pending deliveries',
  },
  pushOldestDue: {
    name: 'a2a.push.oldest_due',
    unit: 's',
    description: 'Time since the oldest pending delivery became due',
  },
  pushOldestWait: {
    name: 'a2a.push.oldest_wait',
    unit: 's',
    description: 'Time for which the oldest failing push configuration has waited',
  },
  memory: { name: 'process.memory.usage', unit: 'By', description: 'Memory of the process' },
  heap: { name: 'process.memory.heap', unit: 'By', description: 'Heap of the process, in use and taken' },
  uptime: { name: 'process.uptime', unit: 's', description: 'How long the process has run' },
  cpu: { name: 'process.cpu.time', unit: 's', description: 'CPU time of the process' },
  eventLoopDelay: { name: 'nodejs.eventloop.delay', unit: 's', description: 'Delay of the event loop' },
} as const;
