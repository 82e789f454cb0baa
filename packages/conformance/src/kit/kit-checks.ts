import type { Check } from '../check.js';
import { KIT_LIST_CHECKS } from './kit-list-checks.js';
import { KIT_PUSH_CHECKS } from './kit-push-checks.js';
import { KIT_SCENARIOS } from './kit-scenarios.js';
import { KIT_TASK_CHECKS } from './kit-task-checks.js';

/** The scenarios of the compatibility kit and the requirements around them, for agents that play the kit. */
export const KIT_CHECKS: readonly Check[] = [
  ...KIT_SCENARIOS,
  ...KIT_TASK_CHECKS,
  ...KIT_LIST_CHECKS,
  ...KIT_PUSH_CHECKS,
];
