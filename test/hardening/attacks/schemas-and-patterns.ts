import type { Attack } from './attack.js';

export const SCHEMAS_AND_PATTERNS: readonly Attack[] = [];
