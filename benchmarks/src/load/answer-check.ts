import { CHUNKS, chunkText, QUESTION, STREAM_EVENTS, type WorkloadName } from '../workloads.js';
import type { Answer } from './answer-reader.js';
import { RequestBytes } from './request-bytes.js';

/** What is wrong with an answer; `undefined` for nothing. Cheap enough for every answer. */
export function faultOf(workload: WorkloadName, number: number, answer: Answer): string | undefined {
  const { status, body } = answer;
  if (status !== 200) return `status ${status}`;
  if (!body.includes(RequestBytes.idOf(number))) return 'the id is not that of the request';
  switch (workload) {
    case 'call':
      return body.includes('"message":{') && body.includes(QUESTION) ? undefined : 'no message with the text sent';
    case 'task':
      if (!body.includes('"TASK_STATE_COMPLETED"')) return 'the task is not COMPLETED';
      return body.includes('"artifacts":[{') ? undefined : 'the task has no artifact';
    case 'stream':
      if (count(body, '"artifactUpdate":') !== CHUNKS) return `not ${CHUNKS} chunks`;
      return body.lastIndexOf('"TASK_STATE_COMPLETED"') > body.lastIndexOf('"artifactUpdate":')
        ? undefined
        : 'the last event is not COMPLETED';
  }
}

/** The same by parsing all of it: every event, every text. For some of the answers. */
export function deepFaultOf(workload: WorkloadName, { body }: Answer): string | undefined {
  try {
    const fault = workload === 'stream' ? streamFault(body) : resultFault(workload, resultOf(body));
    return fault && `${fault}: ${body}`;
  } catch (error) {
    return `${String(error)}: ${body}`;
  }
}

interface Result {
  readonly message?: { readonly parts: Texts };
  readonly task?: { readonly status: Status; readonly artifacts?: readonly { readonly parts: Texts }[] };
  readonly statusUpdate?: { readonly status: Status };
  readonly artifactUpdate?: { readonly artifact: { readonly parts: Texts }; readonly append?: boolean };
}
type Texts = readonly { readonly text: string }[];
interface Status {
  readonly state: string;
}

function resultFault(workload: WorkloadName, { message, task }: Result): string | undefined {
  if (workload === 'call')
    return textOf(message?.parts) === QUESTION ? undefined : 'the text is not that of the question';
  if (task?.status.state !== 'TASK_STATE_COMPLETED') return 'the task is not COMPLETED';
  if (task.artifacts?.length !== 1) return 'not one artifact';
  return textOf(task.artifacts[0]?.parts) === QUESTION ? undefined : 'the text is not that of the question';
}

function streamFault(body: string): string | undefined {
  const events = body.split('\n\n').flatMap((frame) => {
    const line = frame.split('\n').find((found) => found.startsWith('data:'));
    return line === undefined ? [] : [resultOf(line.slice(5))];
  });
  if (events.length !== STREAM_EVENTS) return `${events.length} events`;
  if (events[0]?.task?.status.state !== 'TASK_STATE_SUBMITTED') return 'the first event is not the task';
  if (events[1]?.statusUpdate?.status.state !== 'TASK_STATE_WORKING') return 'the second event is not WORKING';
  if (events.at(-1)?.statusUpdate?.status.state !== 'TASK_STATE_COMPLETED') return 'the last event is not COMPLETED';
  const wrong = events
    .slice(2, -1)
    .findIndex(
      ({ artifactUpdate: update }, index) =>
        textOf(update?.artifact.parts) !== chunkText(index) || (update?.append ?? false) !== index > 0,
    );
  return wrong < 0 ? undefined : `chunk ${wrong} is wrong`;
}

function resultOf(json: string): Result {
  const { result } = JSON.parse(json) as { result?: Result };
  if (result === undefined) throw new TypeError('no result');
  return result;
}

function textOf(parts: Texts | undefined): string | undefined {
  return parts?.map(({ text }) => text).join('');
}

function count(text: string, wanted: string): number {
  let found = 0;
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) found++;
  return found;
}
