import type { StreamResponse } from 'parley-a2a';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../parley/test/manual-clock.js';
import { TaskProgress } from './task-progress.js';

const chunk = (text: string, append = true, artifactId = 'a'): StreamResponse => ({
  artifactUpdate: { taskId: 't', contextId: 'c', append, artifact: { artifactId, parts: [{ text }] } },
});
const status = (text: string): StreamResponse => ({
  statusUpdate: {
    taskId: 't',
    contextId: 'c',
    status: {
      state: 'TASK_STATE_WORKING',
      message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text }] },
    },
  },
});

function createProgress() {
  const clock = new ManualClock();
  const sent: string[] = [];
  const progress = new TaskProgress(async (text) => void sent.push(text), clock);
  return { clock, sent, progress };
}

describe('the progress of a task', () => {
  it('groups the tokens of half a second, and loses none', async () => {
    const { clock, sent, progress } = createProgress();
    const tokens = Array.from({ length: 1_000 }, (_, index) => `${index} `);
    for (const [index, token] of tokens.entries()) {
      await progress.take(chunk(token, index > 0));
      await clock.advance(5);
    }
    await progress.end();
    expect(sent.length).toBeLessThan(13);
    expect(sent.join('')).toBe(tokens.join(''));
  });

  it('sends the first chunk and long chunks at once, and waiting ones without a further event', async () => {
    const { clock, sent, progress } = createProgress();
    await progress.take(chunk('first', false));
    await progress.take(chunk('second'));
    expect(sent).toEqual(['first']);
    await clock.advance(500);
    expect(sent).toEqual(['first', 'second']);
    await progress.take(chunk('x'.repeat(2_000)));
    expect(sent).toHaveLength(3);
  });

  it('keeps the order of chunks, artifacts and states', async () => {
    const { sent, progress } = createProgress();
    await progress.take(chunk('one', false));
    await progress.take(chunk(' two'));
    await progress.take(status('half done'));
    await progress.take(chunk('other', false, 'b'));
    await progress.take(chunk('third', false, 'd'));
    await progress.end();
    expect(sent).toEqual(['one', ' two', 'half done', 'other', 'third']);
  });

  it('rejects if a text cannot be sent', async () => {
    const progress = new TaskProgress(() => Promise.reject(new Error('gone')), new ManualClock());
    await expect(progress.take(status('x'))).rejects.toThrow('gone');
  });
});
