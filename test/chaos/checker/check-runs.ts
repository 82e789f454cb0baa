import type { FoldedLog } from './folded-log.js';
import type { AgentRun, History, ReplicaLife, Violation } from './history.js';

/** Time between the end of a stall and the abort of the runs that have lost their lease meanwhile. */
const AWAKE_MS = 1_000;
/** Inaccuracy of the recorded stalls, in ms. */
const NOTE_MS = 250;

type LogOf = (agent: string, taskId: string) => FoldedLog | undefined;

/**
 * Checks the runs of agents against the logs.
 *
 * - Events of a run are in the log in their order and without gaps, and all that the storage has confirmed are there.
 * - No event of a run is accepted after a newer run of the same turn has begun.
 * - No process of a replica ends by itself.
 * - No run is left when no task is at work any more.
 * - An agent that is not resumable runs at most once for a message.
 * - A run is aborted before the next run of its turn begins. The exception is a process that could not react, because
 *   it was stopped or got no processor: it aborts the run within `AWAKE_MS` after that.
 *
 * A draft holds no lease, so its runs may overlap. `checkMessages` checks their outcome.
 */
export function checkRuns({ runs, replicas, restAt }: History, logs: readonly FoldedLog[], logOf: LogOf): Violation[] {
  const turns = new Map<string, AgentRun[]>();
  for (const run of [...runs].sort((one, other) => one.startedAt - other.startedAt)) {
    const key = `${run.agent} ${run.taskId} ${run.messageId}`;
    const others = turns.get(key);
    if (others === undefined) turns.set(key, [run]);
    else others.push(run);
  }
  const ids = new Set(runs.map(({ id }) => id));
  const lives = new Map(replicas.map((life) => [life.process, life]));
  return [
    ...replicas.flatMap(crashes),
    ...logs.flatMap((log) => publishedOrder(log, ids)),
    ...runs.flatMap((run) => leftRunning(run, lives.get(run.process), restAt)),
    ...runs.flatMap((run) => checkConfirmed(run, logOf(run.agent, run.taskId))),
    ...Array.from(turns.values()).flatMap((ofTurn) => [
      ...oldEpochs(ofTurn, logOf),
      ...repeats(ofTurn),
      ...overlaps(ofTurn, lives),
    ]),
  ];
}

function publishedOrder(log: FoldedLog, runs: ReadonlySet<string>): Violation[] {
  const next = new Map<string, number>();
  return log.records.flatMap((record): Violation[] => {
    const tag = log.tagOf(record);
    if (tag === undefined) return [];
    const { run, count } = tag;
    const taskId = log.id;
    const { seq } = record;
    const expected = next.get(run) ?? 0;
    next.set(run, count + 1);
    if (!runs.has(run)) {
      return [{ rule: 'event of no run', taskId, seq, evidence: `no journal has run ${run}` }];
    }
    if (count === expected) return [];
    const rule = count < expected ? 'event of an agent is there twice' : 'event of an agent is missing';
    return [{ rule, taskId, seq, evidence: `run ${run} has event ${count} in the place of ${expected}` }];
  });
}

function crashes({ process, ownEnd }: ReplicaLife): Violation[] {
  if (ownEnd === undefined) return [];
  return [{ rule: 'replica ended by itself', evidence: `process ${process} ended with ${ownEnd}` }];
}

/** Returns the time after which a run can have no effect. */
function endOf({ abortedAt, endedAt }: AgentRun, life: ReplicaLife | undefined): number {
  return Math.min(...[abortedAt, endedAt, life?.endedAt].map((time) => time ?? Number.POSITIVE_INFINITY));
}

function leftRunning(run: AgentRun, life: ReplicaLife | undefined, restAt: number): Violation[] {
  if (endOf(run, life) <= restAt) return [];
  return [{ rule: 'run is left', taskId: run.taskId, evidence: `run ${run.id} goes on, no task is at work` }];
}

function checkConfirmed({ id, taskId, flushed }: AgentRun, log: FoldedLog | undefined): Violation[] {
  const stored = (log?.records ?? []).filter((record) => log?.tagOf(record)?.run === id).length;
  if (stored >= flushed) return [];
  const evidence = `the storage had confirmed ${flushed} events to run ${id}, the log has ${stored}`;
  return [{ rule: 'confirmed event is lost', taskId, evidence }];
}

function oldEpochs(ofTurn: readonly AgentRun[], logOf: LogOf): Violation[] {
  return ofTurn.flatMap((newer, at) => {
    const { saw, agent, taskId } = newer;
    if (saw === undefined) return [];
    const older = new Set(ofTurn.slice(0, at).map(({ id }) => id));
    const log = logOf(agent, taskId);
    const late = log?.records.find((record) => record.seq > saw && older.has(log.tagOf(record)?.run ?? ''));
    if (late === undefined) return [];
    const evidence = `run ${newer.id} had begun after record ${saw}, then run ${log?.tagOf(late)?.run} wrote`;
    return [{ rule: 'old epoch wrote', taskId, seq: late.seq, evidence }];
  });
}

function repeats(ofTurn: readonly AgentRun[]): Violation[] {
  return ofTurn.slice(1).flatMap((run, at): Violation[] => {
    const before = ofTurn[at];
    const { agent, taskId } = run;
    if (agent === '/fragile') {
      return [{ rule: 'agent ran again', taskId, evidence: `${before?.id}, then ${run.id}, but it is not resumable` }];
    }
    // A draft that could not be stored may run again, because it has no turn yet.
    if (before === undefined || agent === '/either' || run.attempt > before.attempt) return [];
    const evidence = `run ${run.id} has attempt ${run.attempt}, run ${before.id} before it ${before.attempt}`;
    return [{ rule: 'attempts out of order', taskId, evidence }];
  });
}

function overlaps(ofTurn: readonly AgentRun[], lives: ReadonlyMap<string, ReplicaLife>): Violation[] {
  return ofTurn.slice(1).flatMap((run, at): Violation[] => {
    const before = ofTurn[at];
    if (before === undefined) return [];
    const life = lives.get(before.process);
    const over = endOf(before, life);
    if (over <= run.startedAt) return [];
    // The journal of a stopped process continues after SIGCONT.
    const isExcused = (life?.stalls ?? []).some(
      ({ from, to }) => from - NOTE_MS <= run.startedAt && run.startedAt <= to + NOTE_MS && over <= to + AWAKE_MS,
    );
    if (isExcused) return [];
    const evidence = `run ${run.id} began at ${run.startedAt.toFixed(0)}, run ${before.id} was over at ${over.toFixed(0)}`;
    return [{ rule: 'two runs of one turn', taskId: run.taskId, evidence }];
  });
}
