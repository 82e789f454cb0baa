import type { Attack } from './attack.js';

export const COMBINED_AUTHENTICATORS: readonly Attack[] = [];
