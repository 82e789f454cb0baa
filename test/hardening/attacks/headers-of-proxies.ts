import type { Attack } from './attack.js';

export const HEADERS_OF_PROXIES: readonly Attack[] = [];
