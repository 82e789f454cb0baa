import { randomUUID } from 'node:crypto';
import { A2AError } from 'parley-a2a/client';
import { describe, expect, it } from 'vitest';
import { followUpParams, taskOf } from './said.js';
import { hasFault, type Stage } from './stage.js';

const VAGUE = ['INTERNAL_ERROR', 'UNAVAILABLE'];

/** Refused calls arrive as the right errors. */
export function testRefusals(stage: Stage): void {
  async function codeOf(call: Promise<unknown>): Promise<string> {
    const error = await call.then(
      () => new Error('the call was not refused'),
      (refused: unknown) => refused,
    );
    if (!(error instanceof A2AError)) throw error;
    expect(error.message).not.toBe('');
    return error.code;
  }
  const first = (stream: AsyncIterableIterator<unknown>) => stream.next();

  describe('a refusal', () => {
    it.each([
      ['a task', () => stage.client.getTask(randomUUID())],
      ['cancelling', () => stage.client.cancelTask(randomUUID())],
      ['a message', () => stage.client.sendMessage({ message: { taskId: randomUUID(), parts: [{ text: 'x' }] } })],
    ])('of %s that is unknown', async (_, call) => {
      expect(await codeOf(call())).toBe('TASK_NOT_FOUND');
    });

    it('of streams of tasks that are unknown', async () => {
      const { client } = stage;
      const unknown = { message: { taskId: randomUUID(), parts: [{ text: 'x' }] } };
      const refusals = ['TASK_NOT_FOUND', ...(hasFault(stage, 'breaks off refused streams') ? VAGUE : [])];
      expect(refusals).toContain(await codeOf(first(client.subscribeToTask(randomUUID()))));
      expect(refusals).toContain(await codeOf(first(client.sendStreamingMessage(unknown))));
    });

    it('of what a finished task cannot do', async () => {
      const { client } = stage;
      const task = taskOf(await client.sendMessage('task x'));
      expect(await codeOf(client.cancelTask(task.id))).toBe('TASK_NOT_CANCELABLE');
      if (stage.peer.version !== '1.0') return;
      const isMistaken = hasFault(stage, 'misnames ended tasks');
      const refusals = isMistaken ? ['INVALID_PARAMS', ...VAGUE] : ['UNSUPPORTED_OPERATION'];
      expect(refusals).toContain(await codeOf(client.sendMessage(followUpParams(task, 'more'))));
      expect(refusals).toContain(await codeOf(first(client.sendStreamingMessage(followUpParams(task, 'more')))));
      const unwatched = isMistaken ? 'TASK_NOT_FOUND' : 'UNSUPPORTED_OPERATION';
      expect(await codeOf(first(client.subscribeToTask(task.id)))).toBe(unwatched);
    });
  });
}
