import { violationsOf } from 'parley-a2a/validation';
import { describe, expect, it } from 'vitest';
import {
  CountingIds,
  createFilePart,
  createTestArtifact,
  createTestAuthCredentials,
  createTestMessage,
  createTestMessages,
  createTestMessageWithParts,
  createTestTask,
  createTextPart,
} from './index.js';

const shapes: readonly (readonly [Parameters<typeof violationsOf>[0], unknown])[] = [
  ['Message', createTestMessage()],
  ['Message', createTestMessage({ taskId: 't', metadata: { a: 1 } })],
  ['Message', createTestMessageWithParts([createTextPart('hi'), createFilePart(), { data: { a: 1 } }])],
  ['Part', createTextPart()],
  ['Part', createFilePart()],
  ['Part', createFilePart({ bytes: new Uint8Array([0, 255, 128]), mediaType: 'image/png', filename: 'a.png' })],
  ['Part', createFilePart({ url: 'https://example.com/a.txt' })],
  ['Task', createTestTask()],
  ['Task', createTestTask({ status: { state: 'TASK_STATE_WORKING' }, artifacts: [createTestArtifact()] })],
  ['Artifact', createTestArtifact()],
  ['AuthenticationInfo', createTestAuthCredentials({ scheme: 'Basic' })],
];

describe('the shapes for tests', () => {
  it.each(shapes)('are valid: %s', (type, value) => {
    expect(violationsOf(type, value)).toEqual([]);
  });

  it('are logins, too', () => {
    expect(createTestAuthCredentials({ type: 'bearer' })).toEqual({ type: 'bearer', token: 'test-token' });
    expect(createTestAuthCredentials({ type: 'apikey', apiKey: 'k' })).toEqual({ type: 'apikey', apiKey: 'k' });
  });

  it('take overrides', () => {
    expect(createTestMessage({ role: 'ROLE_AGENT', messageId: 'm' })).toMatchObject({
      role: 'ROLE_AGENT',
      messageId: 'm',
    });
    expect(createFilePart({ bytes: new TextEncoder().encode('abc') })).toMatchObject({ raw: 'YWJj' });
    const { id, contextId, history } = createTestTask({ id: 'mine' });
    expect(id).toBe('mine');
    expect(history).toEqual([expect.objectContaining({ taskId: 'mine', contextId })]);
  });

  it('have ids of their own, or the same in every run', () => {
    expect(createTestMessage().messageId).not.toBe(createTestMessage().messageId);
    const [one, other] = [new CountingIds(), new CountingIds()];
    expect(createTestTask({}, { ids: one })).toEqual(createTestTask({}, { ids: other }));
    expect(createTestArtifact({}, { ids: one })).toEqual(createTestArtifact({}, { ids: other }));
  });

  it('make messages of one context', () => {
    const messages = createTestMessages(3);
    expect(new Set(messages.map(({ contextId }) => contextId)).size).toBe(1);
    expect(new Set(messages.map(({ messageId }) => messageId)).size).toBe(3);
    expect(createTestMessages(['a', 'b']).map(({ parts }) => parts)).toEqual([[{ text: 'a' }], [{ text: 'b' }]]);
  });
});
