import { afterAll } from 'vitest';
import { conversationContract } from '../contract/conversation-contract.js';
import { scopedTasksContract } from '../contract/scoped-tasks-contract.js';
import { sharedKeysContract } from '../contract/storage/keeping.js';
import type { OpenStorage } from '../contract/storage/tested-storage.js';
import { storageContract } from '../contract/storage-contract.js';
import { turnContextContract } from '../contract/turn-context-contract.js';
import { RedisServer } from '../support/servers/redis-server.js';
import { RedisStorages } from './redis-storages.js';

const server = await RedisServer.start();
afterAll(() => server[Symbol.asyncDispose]());
const storages = new RedisStorages(server.url);

const open: OpenStorage = (clock, options) => storages.open(clock, options);

storageContract('Redis', open);
scopedTasksContract('Redis', open);
conversationContract('Redis', open);
turnContextContract('Redis', open);
sharedKeysContract('Redis', open);
