import { expect, it } from 'vitest';
import type { Artifact } from '../../model/artifact.js';
import type { JsonObject } from '../../model/json.js';
import type { Part } from '../../model/part.js';
import type { StreamResponse, TaskArtifactUpdateEvent } from '../../model/stream-response.js';
import { copiedEvent } from './copied-event.js';

const metadata: JsonObject = { deep: { list: [{ text: 'x' }] } };
/** Every member: a new one does not compile until it is here. */
const artifactMembers: Required<Omit<Artifact, 'parts'>> = {
  artifactId: 'a',
  name: 'response',
  description: 'An answer',
  metadata,
  extensions: ['https://example.com/extension'],
};
const updateMembers: Required<Omit<TaskArtifactUpdateEvent, 'artifact'>> = {
  taskId: 't',
  contextId: 'c',
  append: true,
  lastChunk: false,
  metadata,
};
const parts: readonly Part[] = [
  { text: 'x' },
  { text: 'x', filename: 'f.txt', mediaType: 'text/plain' },
  { text: 'x', metadata },
  { raw: 'eA==' },
  { url: 'https://example.com/', metadata },
  { data: { list: [{ deep: {} }] } },
];

function updateOf(members: object, artifact: object, shown: readonly Part[]): StreamResponse {
  const { taskId, contextId } = updateMembers;
  return {
    artifactUpdate: { taskId, contextId, ...members, artifact: { artifactId: 'a', ...artifact, parts: shown } },
  };
}

function each(members: object): readonly object[] {
  return Object.entries(members).map(([name, value]) => ({ [name]: value }));
}

const status = { state: 'TASK_STATE_COMPLETED', timestamp: '2026-01-01T00:00:00.000Z' } as const;
const message = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'x', metadata }] } as const;
const events: readonly StreamResponse[] = [
  ...parts.map((part) => updateOf({}, {}, [{ text: 'x' }, part])),
  ...each(updateMembers).map((member) => updateOf(member, {}, [{ text: 'x' }])),
  ...each(artifactMembers).map((member) => updateOf({}, member, [{ text: 'x' }])),
  updateOf(updateMembers, artifactMembers, parts),
  { statusUpdate: { taskId: 't', contextId: 'c', status: { ...status, message }, metadata } },
  { task: { id: 't', contextId: 'c', status, history: [message], artifacts: [{ artifactId: 'a', parts }] } },
  { message },
];

/** All objects in a value. */
function objectsIn(value: unknown): readonly object[] {
  if (typeof value !== 'object' || value === null) return [];
  return [value, ...Object.values(value).flatMap(objectsIn)];
}

it('a copy is equal to its event, and shares no object with it', () => {
  for (const event of events) {
    const copy = copiedEvent(event);
    expect(copy).toStrictEqual(event);
    const own = new Set(objectsIn(event));
    expect(
      objectsIn(copy).filter((object) => own.has(object)),
      JSON.stringify(event),
    ).toEqual([]);
  }
});
