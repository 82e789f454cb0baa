import type { Attack } from './attack.js';

export const BYTES_OF_PEERS: readonly Attack[] = [];
