import type { Attack } from './attack.js';

export const DATA_OF_OWNERS: readonly Attack[] = [];
