import { describe, expect, it } from 'vitest';
import { runTurn, ScriptedClock } from '../test/recorded-turn.js';
import { complianceAgent } from './compliance-agent.js';

const WORKING = { status: 'WORKING', says: undefined };
const COMPLETED = { status: 'COMPLETED', says: undefined };
const FILE = { raw: 'R2VuZXJhdGVkIGZpbGUgY29udGVudA==', mediaType: 'text/plain', filename: 'output.txt' };
const artifact = (...parts: object[]) => ({ artifact: undefined, parts, append: false, lastChunk: false });

const TABLE: [prefix: string, published: object[]][] = [
  ['tck-complete-task', [{ status: 'COMPLETED', says: 'Hello from TCK' }]],
  ['tck-artifact-text', [artifact({ text: 'Generated text content' }), COMPLETED]],
  ['tck-artifact-file', [artifact(FILE), COMPLETED]],
  [
    'tck-artifact-file-url',
    [artifact({ url: 'https://example.com/output.txt', mediaType: 'text/plain', filename: 'output.txt' }), COMPLETED],
  ],
  ['tck-artifact-data', [artifact({ data: { key: 'value', count: 42 } }), COMPLETED]],
  ['tck-message-response', [{ message: 'Direct message response' }]],
  ['tck-input-required', [{ status: 'INPUT_REQUIRED', says: 'Please send more input.' }]],
  ['tck-reject-task', [{ status: 'REJECTED', says: 'rejected' }]],
  ['tck-stream-001', [WORKING, artifact({ text: 'Stream hello from TCK' }), COMPLETED]],
  ['tck-stream-002', [COMPLETED]],
  ['tck-stream-003', [WORKING, artifact({ text: 'Stream task lifecycle' }), COMPLETED]],
  ['tck-stream-ordering-001', [WORKING, artifact({ text: 'Ordered output' }), COMPLETED]],
  ['tck-stream-artifact-text', [WORKING, artifact({ text: 'Streamed text content' }), COMPLETED]],
  ['tck-stream-artifact-file', [WORKING, artifact(FILE), COMPLETED]],
  [
    'tck-stream-artifact-chunked',
    [
      WORKING,
      artifact({ text: 'chunk-1 ' }),
      { artifact: 'generated', parts: [{ text: 'chunk-2' }], append: true, lastChunk: true },
      COMPLETED,
    ],
  ],
  ['test-resubscribe-message-id', [WORKING, COMPLETED]],
];

describe('compliance agent', () => {
  const agent = (clock = new ScriptedClock()) => complianceAgent({ clock, streamingTimeoutMs: 2000 }).agent;

  it.each(TABLE)('does what %s asks for, alone and with more behind it', async (prefix, published) => {
    expect(await runTurn(agent(), { messageId: prefix })).toEqual(published);
    expect(await runTurn(agent(), { messageId: `${prefix}-5f1c` })).toEqual(published);
  });

  it('names any other tck- id in its answer', async () => {
    expect(await runTurn(agent(), { messageId: 'tck-what-is-this' })).toEqual([
      { status: 'COMPLETED', says: 'Unhandled messageId prefix: tck-what-is-this' },
    ]);
  });

  it('stays at work for twice the streaming timeout and half a second when it is to be subscribed to', async () => {
    const clock = new ScriptedClock();
    await runTurn(agent(clock), { messageId: 'test-resubscribe-message-id-1' });
    expect(clock.pauses).toEqual([4500]);
  });

  it('goes on talking when the id asks for nothing', async () => {
    const clock = new ScriptedClock();
    const published = await runTurn(agent(clock), { text: 'hi', messageId: 'anything' });
    expect(published).toEqual([
      { status: 'WORKING', says: 'Working on your message...' },
      { status: 'INPUT_REQUIRED', says: 'Hello! You said: "hi". What else can I do for you?' },
    ]);
    expect(clock.pauses).toEqual([200]);
  });

  it('says nothing more once its work is canceled', async () => {
    expect(await runTurn(agent(new ScriptedClock(1)), { text: 'hi' })).toHaveLength(1);
  });
});
