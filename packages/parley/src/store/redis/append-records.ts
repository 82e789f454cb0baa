import { StorageError } from '../../errors/storage-error.js';
import { isTerminal } from '../../model/task-state.js';
import type { LogRecord } from '../../task/log-record.js';
import { ShapedTask } from '../../task/shaped-task.js';
import { statusTime } from '../../task/status-time.js';
import { appendRequest } from '../engine/append-records.js';
import { decideAppend, unchangedOutcome } from '../rules/decide-append.js';
import type { AppendedHead } from '../rules/task-head.js';
import { stateNumber } from '../state-numbers.js';
import type { Append, AppendOutcome } from '../task-storage.js';
import type { RedisCalls } from './redis-calls.js';
import type { TaskPlace } from './redis-keys.js';
import { headOf, type KnownHead, recordText, statusText } from './task-texts.js';

type AppendAnswer = readonly [1, waiting: number, isDue: 0 | 1] | readonly [0, now: string, head: KnownHead];

/** Bounds of logs, in bytes. */
export interface LogLimits {
  /** A task that goes on and on keeps so much of its log at least half. */
  readonly logBytes: number;
  /** The logs of the finished tasks of one partition take so much at most. */
  readonly eventLogBytes: number;
}

/** Attempts of a decision while other calls change its task. */
const ATTEMPTS = 16;

/** A decision of the rule, and the bounds of logs. */
interface Fields {
  readonly decision: readonly (string | number)[];
  readonly limits: LogLimits;
}

/** Chunks at most that one append may bring to be a plain case. */
const CHUNKS = 200;

/** The outcome of an append, and whether a delivery became due. */
export interface Appended {
  readonly outcome: AppendOutcome;
  readonly isDue: boolean;
}

/** Adds records to the log of a task, if the writer has the right to. */
export async function appendRecords(calls: RedisCalls, append: Append, limits: LogLimits): Promise<Appended> {
  const { after, records } = append;
  const request = appendRequest(append);
  const place = calls.keys.ofTask(append.key);
  const texts = records.map(recordText);
  const bytes = texts.reduce((sum, text) => sum + text.length, 0);
  const written = [place.name, after, records.length, bytes, chunkFence(append), ...texts];
  let decision: Fields['decision'] = ['', '', '', '', ''];
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const answer = await calls.run<AppendAnswer>('append', place, [
      ...written,
      ...fieldsOf(place, append, { decision, limits }),
    ]);
    if (answer[0] === 1) return { outcome: { kind: 'appended', waiting: answer[1] }, isDue: answer[2] === 1 };
    let known = headOf(answer[2]);
    let decided = decideAppend(known, request, { now: Number(answer[1]) });
    if (decided.kind === 'compare') {
      const tail = await calls.run<readonly [string, KnownHead, readonly string[]]>('tail', place, [place.name, after]);
      known = headOf(tail[1]);
      const isInLog = tail[2].length === texts.length && tail[2].every((text, at) => text === texts[at]);
      decided = decideAppend(known, request, { now: Number(tail[0]), isInLog });
    }
    if (decided.kind !== 'appended') return { outcome: unchangedOutcome(decided, known), isDue: false };
    if (known === undefined) throw new TypeError('A task that is not there was appended to');
    decision = decisionFields(known.version, decided);
  }
  throw new StorageError(`The task ${append.key.id} changed ${ATTEMPTS} times during an append: repeat the call`);
}

/** The arguments of the script behind the records. An empty text stands for what is absent. */
function fieldsOf(place: TaskPlace, append: Append, { decision, limits }: Fields): readonly (string | number)[] {
  const { key, authority, records, head, snapshot, checkpoint, endsTurn } = append;
  const { status, metadata } = head;
  const ends = isTerminal(status.state);
  const texts = snapshot && ShapedTask.textsOf(snapshot);
  const [version = '', ...decided] = decision;
  const fields = [place.agent, authority, version, endsTurn ?? '', ends ? 1 : 0, ...decided];
  const kept = checkpoint === undefined || typeof authority !== 'number' ? '' : JSON.stringify(checkpoint);
  // Chunks of artifacts change neither the status nor the metadata.
  const isPlain = !ends && texts === undefined && records.length > 0 && records.every(isChunk);
  if (isPlain) return kept === '' ? fields : [...fields, kept];
  return [
    ...fields,
    kept,
    place.scope,
    key.id,
    stateNumber(status.state),
    statusTime(status),
    texts?.status ?? statusText(status),
    metadata === undefined ? '' : JSON.stringify(metadata),
    texts === undefined ? 0 : 1,
    texts?.history ?? '',
    texts?.artifacts ?? '',
    limits.logBytes,
    limits.eventLogBytes,
  ];
}

/**
 * The middle of the head of a task whose only turn writes chunks: see `HEAD_FIELDS`. The task has not ended and has no
 * push configuration. Empty if the append does more than that.
 */
function chunkFence({ authority, records, snapshot, checkpoint, endsTurn }: Append): string {
  const turn = records[0]?.turn;
  if (typeof authority !== 'number' || turn === undefined || turn === 0 || !records.every(isChunk)) return '';
  if (snapshot !== undefined || checkpoint !== undefined || endsTurn !== undefined || records.length > CHUNKS)
    return '';
  return `${authority} ${turn} ${turn} 0 0 ${turn}`;
}

function isChunk({ event, history, metadata }: LogRecord): boolean {
  return 'artifactUpdate' in event && history === undefined && metadata === undefined;
}

/** The arguments of the script that carry a decision about the head of this version. */
function decisionFields(version: number, decision: AppendedHead): readonly (string | number)[] {
  const { epoch, began, holder, drops } = decision;
  return [version, epoch, began, holder === undefined ? 0 : 1, drops ?? ''];
}
