import { systemClock } from '../../packages/parley/src/exports/runtime.js';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { PostgresStorage } from '../../packages/postgres/src/postgres-storage.js';
import { everyBinding } from '../matrix/every-binding/every-binding.js';
import { onServer } from '../matrix/every-binding/stores.js';
import { PostgresServer } from '../support/servers/postgres-server.js';

everyBinding({
  name: 'PostgreSQL',
  async open() {
    const server = await PostgresServer.start('fsync=off');
    const options = { url: server.url, durability: 'process', clock: systemClock, logger: silentLogger } as const;
    return onServer(await PostgresStorage.open(options), server);
  },
});
