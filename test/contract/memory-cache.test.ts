import { MemoryCache } from '../../packages/parley/src/cache/memory/memory-cache.js';
import { systemClock } from '../../packages/parley/src/exports/runtime.js';
import { cacheContract } from './cache-contract.js';

cacheContract('in memory', async () => new MemoryCache({ clock: systemClock }));
