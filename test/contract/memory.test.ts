import { MemoryStorage } from '../../packages/parley/src/store/memory/memory-storage.js';
import type { OpenStorage } from './storage/tested-storage.js';
import { storageContract } from './storage-contract.js';
import { taskStoreContract } from './task-store-contract.js';

const open: OpenStorage = async (clock, options) => new MemoryStorage({ clock, ...options });

storageContract('memory', open);
taskStoreContract('memory', open);
