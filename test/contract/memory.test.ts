import { MemoryStorage } from '../../packages/parley/src/store/memory/memory-storage.js';
import { storageContract } from './storage-contract.js';

storageContract('memory', async (clock) => new MemoryStorage({ clock }));
