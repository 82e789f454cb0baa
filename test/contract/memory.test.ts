import { MemoryStorage } from '../../packages/parley/src/store/memory/memory-storage.js';
import { conversationContract } from './conversation-contract.js';
import { scopedTasksContract } from './scoped-tasks-contract.js';
import type { OpenStorage } from './storage/tested-storage.js';
import { storageContract } from './storage-contract.js';
import { turnContextContract } from './turn-context-contract.js';

const open: OpenStorage = async (clock, options) => new MemoryStorage({ clock, ...options });

storageContract('memory', open);
scopedTasksContract('memory', open);
conversationContract('memory', open);
turnContextContract('memory', open, { concurrent: true });
