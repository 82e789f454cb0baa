import { expect, it } from 'vitest';
import type { JsonValue } from '../model/json.js';
import { eventBytes } from './event-bytes.js';

const ids = { taskId: 't', contextId: 'c' };
const bytesOf = (data: JsonValue) =>
  eventBytes({ artifactUpdate: { ...ids, artifact: { artifactId: 'a', parts: [{ data }] } } });

it.each<[string, JsonValue]>([
  ['a long text', 'x'.repeat(1_000)],
  ['many empty lists', Array.from({ length: 1_000 }, () => [])],
  ['many short texts', Array.from({ length: 1_000 }, () => 'ab')],
  ['many members', Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`member${at}`, {}]))],
])('%s counts about as many bytes as its JSON', (_, data) => {
  const counted = bytesOf(data) - bytesOf('') + '""'.length;
  const written = JSON.stringify(data).length;
  expect(Math.abs(counted - written)).toBeLessThanOrEqual(written / 100);
});
