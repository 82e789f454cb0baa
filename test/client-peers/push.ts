import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Webhook } from '../support/webhook.js';
import { startParams, taskOf } from './said.js';
import { hasFault, type Stage } from './stage.js';

/** Webhooks of tasks. */
export function testPush(stage: Stage): void {
  describe('a webhook', () => {
    it('is registered, read, listed and removed', async () => {
      const { client } = stage;
      const { id: taskId } = taskOf(await client.sendMessage(startParams('wait')));
      const wanted = { taskId, id: 'first', url: 'http://127.0.0.1:9/hook', token: 'a-token' };
      expect(await client.createTaskPushNotificationConfig(wanted)).toMatchObject(wanted);
      await client.createTaskPushNotificationConfig({ ...wanted, id: 'second' });
      expect(await client.getTaskPushNotificationConfig({ taskId, id: 'first' })).toMatchObject(wanted);
      if (hasFault(stage, 'confuses webhooks')) return;
      const ids = async () => {
        const { configs } = await client.listTaskPushNotificationConfigs({ taskId });
        return configs.map(({ id }) => id).sort();
      };
      expect(await ids()).toEqual(['first', 'second']);
      await client.deleteTaskPushNotificationConfig({ taskId, id: 'first' });
      expect(await ids()).toEqual(['second']);
      await expect(client.getTaskPushNotificationConfig({ taskId, id: 'first' })).rejects.toThrow();
      await client.cancelTask(taskId);
    });

    it('that comes with a message is called', async () => {
      await using hook = await Webhook.open();
      const token = randomUUID();
      const { client } = stage;
      const sent = { message: { parts: [{ text: 'task x' }] } };
      const taskPushNotificationConfig = { url: hook.url, token };
      await client.sendMessage({ ...sent, configuration: { taskPushNotificationConfig } });
      const { headers, body } = await hook.call(/completed/i);
      expect(headers['x-a2a-notification-token'] ?? headers['a2a-notification-token']).toBe(token);
      expect(body).toContain('status');
    });
  });
}
