import type { Check } from '../check.js';
import { expectRefusal, fail, pass, skip } from '../finding.js';
import { memberOf } from '../wire/json.js';
import { KIT_LIST_CHECKS } from './kit-list-checks.js';
import { kitTask } from './kit-message.js';
import { KIT_SCENARIOS } from './kit-scenarios.js';
import { KIT_TASK_CHECKS } from './kit-task-checks.js';

const URL = 'https://example.com/hook';

/** Requirements for push configurations. */
const KIT_PUSH_CHECKS: readonly Check[] = [
  {
    spec: '§3.1.7',
    requirement: 'a push configuration cannot be created if the card offers none',
    run: async (agent) => {
      if (agent.capabilities.pushNotifications) return skip('the card offers them');
      const { id: taskId } = await kitTask(agent, 'tck-input-required');
      const config = { taskId, id: 'parley', url: URL };
      return expectRefusal(
        () => agent.call('CreateTaskPushNotificationConfig', config),
        ['PUSH_NOTIFICATION_NOT_SUPPORTED'],
      );
    },
  },
  pushCheck('§3.1.8', 'a push configuration can be read and listed', async ({ agent, taskId, id }) => {
    const read = await agent.call('GetTaskPushNotificationConfig', { taskId, id });
    const url = memberOf(read, 'url');
    if (url !== URL) return fail(`its URL is ${url}, not ${URL}`);
    const configs = await agent.listConfigs(taskId);
    return configs.some((config) => memberOf(config, 'id') === id) ? pass(id) : fail(`the list does not name ${id}`);
  }),
  pushCheck('§3.1.10', 'a push configuration can be deleted, and then again', async ({ agent, taskId, id }) => {
    await agent.call('DeleteTaskPushNotificationConfig', { taskId, id });
    await agent.call('DeleteTaskPushNotificationConfig', { taskId, id });
    const configs = await agent.listConfigs(taskId);
    return configs.some((config) => memberOf(config, 'id') === id) ? fail(`the list still names ${id}`) : pass(id);
  }),
];

/** A push configuration that the agent has stored. */
interface StoredConfig {
  readonly agent: Parameters<Check['run']>[0];
  readonly taskId: string;
  readonly id: string;
}

function pushCheck(spec: string, requirement: string, run: (config: StoredConfig) => ReturnType<Check['run']>): Check {
  return {
    spec,
    requirement,
    run: async (agent) => {
      if (!agent.capabilities.pushNotifications) return skip('the card does not offer them');
      const { id: taskId } = await kitTask(agent, 'tck-input-required');
      const config = await agent.call('CreateTaskPushNotificationConfig', { taskId, id: 'parley', url: URL });
      return run({ agent, taskId, id: String(memberOf(config, 'id') ?? '') });
    },
  };
}

/** The scenarios of the compatibility kit and the requirements around them, for agents that play the kit. */
export const KIT_CHECKS: readonly Check[] = [
  ...KIT_SCENARIOS,
  ...KIT_TASK_CHECKS,
  ...KIT_LIST_CHECKS,
  ...KIT_PUSH_CHECKS,
];
