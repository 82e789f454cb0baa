import type { Attack } from './attack.js';

export const TEXT_FOR_TERMINALS: readonly Attack[] = [];
