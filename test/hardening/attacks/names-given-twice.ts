import type { Attack } from './attack.js';

export const NAMES_GIVEN_TWICE: readonly Attack[] = [];
