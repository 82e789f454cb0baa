import type { Check } from './checks.js';
import { TCK_LIST_CHECKS } from './tck-list-checks.js';
import { TCK_PUSH_CHECKS } from './tck-push-checks.js';
import { TCK_SCENARIOS } from './tck-scenarios.js';
import { TCK_TASK_CHECKS } from './tck-task-checks.js';

export { speaksKit } from './kit-message.js';
export { WIRE_CHECKS } from './wire-checks.js';

/** The scenarios of the compatibility kit and what has to hold around them, for agents that know its message ids. */
export const KIT_CHECKS: readonly Check[] = [
  ...TCK_SCENARIOS,
  ...TCK_TASK_CHECKS,
  ...TCK_LIST_CHECKS,
  ...TCK_PUSH_CHECKS,
];
