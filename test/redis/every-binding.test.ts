import { systemClock, systemIds } from '../../packages/parley/src/exports/runtime.js';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { RedisStorage } from '../../packages/redis/src/storage/redis-storage.js';
import { everyBinding } from '../matrix/every-binding/every-binding.js';
import { onServer } from '../matrix/every-binding/stores.js';
import { RedisServer } from '../support/servers/redis-server.js';

everyBinding({
  name: 'Redis',
  async open() {
    const server = await RedisServer.start();
    const options = { url: server.url, clock: systemClock, ids: systemIds, logger: silentLogger };
    return onServer(await RedisStorage.open(options), server);
  },
});
