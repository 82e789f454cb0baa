import type { Check } from './checks.js';
import { fail, pass, refused, skipped } from './finding.js';
import { kitTask } from './kit-message.js';

const NOT_SUPPORTED = ['PUSH_NOTIFICATION_NOT_SUPPORTED'] as const;

/** Push configurations, where the card offers them and where not. */
export const TCK_PUSH_CHECKS: readonly Check[] = [
  {
    spec: '§3.1.7',
    requirement: 'a push configuration cannot be made where the card offers none',
    run: async (agent) => {
      if (agent.card.capabilities.pushNotifications === true) return skipped('the card offers them');
      const { id: taskId } = await kitTask(agent, 'tck-input-required');
      const config = { taskId, id: 'parley', url: 'https://example.com/hook' };
      return refused(
        () => agent.client.createTaskPushNotificationConfig(config, { signal: agent.signal }),
        NOT_SUPPORTED,
      );
    },
  },
  {
    spec: '§3.1.8',
    requirement: 'a push configuration that was made can be read and listed',
    run: async (agent) => {
      const { card, client, signal } = agent;
      if (card.capabilities.pushNotifications !== true) return skipped('the card does not offer them');
      const { id: taskId } = await kitTask(agent, 'tck-input-required');
      const url = 'https://example.com/hook';
      const { id = '' } = await client.createTaskPushNotificationConfig({ taskId, id: 'parley', url }, { signal });
      const read = await client.getTaskPushNotificationConfig({ taskId, id }, { signal });
      if (read.url !== url) return fail(`its address is ${read.url}, not ${url}`);
      const { configs } = await client.listTaskPushNotificationConfigs({ taskId }, { signal });
      return configs.some((config) => config.id === id) ? pass(id) : fail(`the list does not name ${id}`);
    },
  },
  {
    spec: '§3.1.10',
    requirement: 'a push configuration can be removed, and then again',
    run: async (agent) => {
      const { card, client, signal } = agent;
      if (card.capabilities.pushNotifications !== true) return skipped('the card does not offer them');
      const { id: taskId } = await kitTask(agent, 'tck-input-required');
      const config = { taskId, id: 'parley', url: 'https://example.com/hook' };
      const { id = '' } = await client.createTaskPushNotificationConfig(config, { signal });
      await client.deleteTaskPushNotificationConfig({ taskId, id }, { signal });
      await client.deleteTaskPushNotificationConfig({ taskId, id }, { signal });
      const { configs } = await client.listTaskPushNotificationConfigs({ taskId }, { signal });
      return configs.some((one) => one.id === id) ? fail(`the list still names ${id}`) : pass(id);
    },
  },
];
