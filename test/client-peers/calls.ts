import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { followUpParams, startParams, taskOf, textOf } from './said.js';
import { hasFault, type Stage } from './stage.js';

/** Calls that are answered once. */
export function testCalls(stage: Stage): void {
  describe('a call', () => {
    it('is answered with a message', async () => {
      const answer = await stage.client.sendMessage('hällo ✓');
      expect(answer).toMatchObject({ message: { role: 'ROLE_AGENT', parts: [{ text: 'Echo: hällo ✓' }] } });
    });

    it('is answered with a finished task, which can be read', async () => {
      const { client } = stage;
      const sent = { contextId: randomUUID(), messageId: randomUUID(), parts: [{ text: 'task some text' }] };
      const { id, ...task } = taskOf(await client.sendMessage({ message: sent }));
      expect(task).toMatchObject({ contextId: sent.contextId, status: { state: 'TASK_STATE_COMPLETED' } });
      // Some give no history unless they are asked for it.
      const read = await client.getTask({ id, historyLength: 100 });
      expect(read.artifacts?.map((artifact) => [artifact.artifactId, textOf(artifact)])).toEqual([
        ['result', 'some text'],
      ]);
      expect(read.history?.[0]).toMatchObject({ role: 'ROLE_USER', ...sent });
      const short = await client.getTask({ id, historyLength: 1 });
      expect(short.history?.length ?? 0).toBeLessThanOrEqual(1);
    });

    it('is answered with a task that failed, and why', async () => {
      const { status } = taskOf(await stage.client.sendMessage('fail'));
      expect(status).toMatchObject({ state: 'TASK_STATE_FAILED', message: { role: 'ROLE_AGENT' } });
      expect(textOf(status.message)).toBe('It could not be done');
    });

    it('goes on with a task that waits for its caller', async () => {
      const { client } = stage;
      const asked = taskOf(await client.sendMessage('ask'));
      expect(asked.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
      expect(textOf(asked.status.message)).toBe('What else?');
      const answered = taskOf(await client.sendMessage(followUpParams(asked, 'nothing more')));
      expect(answered).toMatchObject({ id: asked.id, status: { state: 'TASK_STATE_COMPLETED' } });
      const { history = [], artifacts = [] } = await client.getTask({ id: asked.id, historyLength: 100 });
      expect(history.filter(({ role }) => role === 'ROLE_USER').map(textOf)).toEqual(['ask', 'nothing more']);
      expect(artifacts.map(textOf)).toEqual(['nothing more']);
    });

    it('cancels a task that runs', async () => {
      const { client } = stage;
      const { id } = taskOf(await client.sendMessage(startParams('wait')));
      const canceled = await client.cancelTask(id, { metadata: { reason: 'enough' } });
      expect(canceled).toMatchObject({ id, status: { state: 'TASK_STATE_CANCELED' } });
      expect((await client.getTask(id)).status.state).toBe('TASK_STATE_CANCELED');
      expect((await client.cancelTask(id)).status.state).toBe('TASK_STATE_CANCELED');
    });

    it('waits for tasks as long as it takes', async () => {
      const { client } = stage;
      const gate = randomUUID();
      const { id } = taskOf(await client.sendMessage(startParams(`chunks ${gate} 2`)));
      const waiting = client.waitFor(id);
      await client.sendMessage(`saw ${gate}-2`);
      const task = await waiting;
      const content = hasFault(stage, 'stores watched chunks twice') ? /chunk 1 .*chunk 2 $/ : /^chunk 1 chunk 2 $/;
      expect(task.status.state).toBe('TASK_STATE_COMPLETED');
      expect(task.artifacts?.map(textOf).join('')).toMatch(content);
      expect(taskOf(await client.ask('task x')).status.state).toBe('TASK_STATE_COMPLETED');
    });

    it('gives the card for known callers', async () => {
      expect(await stage.client.getExtendedAgentCard()).toMatchObject({ name: stage.client.card.name });
    });

    it('lists tasks page by page, where the version has lists', async () => {
      const { client, peer } = stage;
      if (peer.version !== '1.0') {
        await expect(client.listTasks()).rejects.toMatchObject({ code: 'UNSUPPORTED_OPERATION' });
        return;
      }
      const contextId = randomUUID();
      const ids: string[] = [];
      for (const text of ['task 1', 'ask', 'task 3']) {
        ids.unshift(taskOf(await client.sendMessage({ message: { contextId, parts: [{ text }] } })).id);
      }
      const first = await client.listTasks({ contextId, pageSize: 2 });
      expect(first).toMatchObject({ totalSize: 3 });
      const second = await client.listTasks({ contextId, pageSize: 2, pageToken: first.nextPageToken });
      expect(second.nextPageToken).toBe('');
      expect([first, second].map(({ tasks }) => tasks.map(({ id }) => id))).toEqual([ids.slice(0, 2), ids.slice(2)]);
      const asked = await client.listTasks({ contextId, status: 'TASK_STATE_INPUT_REQUIRED' });
      expect(asked.tasks.map(({ id }) => id)).toEqual(ids.slice(1, 2));
    });
  });
}
