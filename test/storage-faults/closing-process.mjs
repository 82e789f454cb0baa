// Closes a storage while a read is under way. No socket and no timer keep this process alive.
import { openStorage } from '../../packages/parley/dist/exports/storage.js';

const storage = await openStorage(`sqlite:${process.argv[2]}`);
const asked = storage.push.queues({ agents: ['/'], limit: 1 });
await storage.close();
await asked.catch(() => {});
process.stdout.write('closed');
