import { describe, expect, it } from 'vitest';
import type { StreamResponse } from '../../model/stream-response.js';
import type { TaskState } from '../../model/task-state.js';
import { PROTO_NAMES } from '../v0_2_5/operations.js';
import { type Dialect, KINDS, PROTO_JSON } from './dialect.js';
import type { Members } from './members-reader.js';
import { streamResponseReader, writeStreamResponse } from './stream-response.js';

const IDS = { taskId: 't', contextId: 'c' };
const METADATA = { k: [1, 'two'] };
const MESSAGE = {
  messageId: 'm',
  role: 'ROLE_AGENT',
  ...IDS,
  parts: [{ text: 'hello' }, { data: { n: 1 } }, { url: 'https://files.example/1', mediaType: 'image/png' }],
  metadata: METADATA,
} as const;
const STATUS = { state: 'TASK_STATE_WORKING', message: MESSAGE, timestamp: '2026-01-01T00:00:00.000Z' } as const;
const ARTIFACT = { artifactId: 'a', name: 'response', parts: [{ text: 'hello' }] } as const;

const EVENTS: Record<string, StreamResponse> = {
  'a task': {
    task: { id: 't', contextId: 'c', status: STATUS, artifacts: [ARTIFACT], history: [MESSAGE], metadata: METADATA },
  },
  'a direct message': { message: MESSAGE },
  'a status': { statusUpdate: { ...IDS, status: STATUS, metadata: METADATA } },
  'an artifact': { artifactUpdate: { ...IDS, artifact: ARTIFACT, metadata: METADATA } },
  'a chunk': { artifactUpdate: { ...IDS, artifact: ARTIFACT, append: true, lastChunk: false } },
  'the last chunk': { artifactUpdate: { ...IDS, artifact: ARTIFACT, append: true, lastChunk: true } },
};

const DIALECTS: Record<string, Dialect> = {
  'JSON-RPC': KINDS,
  'HTTP+JSON of 0.3': PROTO_JSON,
  'HTTP+JSON of 0.2.5': PROTO_NAMES,
};

/** The event as a client reads it. */
function roundTrip(dialect: Dialect, event: StreamResponse): object {
  const wire = JSON.parse(JSON.stringify(writeStreamResponse(dialect, { event }))) as Members;
  return streamResponseReader(dialect)(wire);
}

describe.each(Object.entries(DIALECTS))('%s', (_name, dialect) => {
  it.each(Object.entries(EVENTS))('reads %s as it was written', (_event, event) => {
    expect(roundTrip(dialect, event)).toEqual(event);
  });

  it.each<[TaskState, boolean, boolean]>([
    ['TASK_STATE_WORKING', false, false],
    ['TASK_STATE_INPUT_REQUIRED', false, false],
    ['TASK_STATE_INPUT_REQUIRED', true, true],
    ['TASK_STATE_COMPLETED', false, true],
    ['TASK_STATE_REJECTED', false, true],
  ])('a status %s, the last event: %s, has `final`: %s', (state, last, final) => {
    const event = { statusUpdate: { ...IDS, status: { state } } };
    const wire = writeStreamResponse(dialect, { event, last });
    expect(dialect.kinds ? wire : (wire as { statusUpdate: object }).statusUpdate).toMatchObject({ final });
  });
});

it('an event of an unknown kind is left to the validator', () => {
  const strange = { kind: 'surprise', taskId: 't' };
  expect(streamResponseReader(KINDS)(strange)).toBe(strange);
});
