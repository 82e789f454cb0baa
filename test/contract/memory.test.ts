import { MemoryStorage } from '../../packages/parley/src/store/memory/memory-storage.js';
import type { OpenStorage } from './storage/tested-storage.js';
import { storageContract } from './storage-contract.js';
import { taskStoreContract } from './task-store-contract.js';

const open: OpenStorage = async (clock) => new MemoryStorage({ clock });

storageContract('memory', open);
taskStoreContract('memory', open);
