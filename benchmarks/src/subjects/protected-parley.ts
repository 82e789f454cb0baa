// Our server with a finishing agent: open, with idempotent sends, with an API key, or with an API key and rates.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ApiKeys } from 'parley-a2a/auth';
import { createA2AServer } from 'parley-a2a/node';
import { AGENTS } from './parley-agents.js';
import { storageNamed } from './parley-storage.js';
import { ready } from './subject-host.js';

const [, , setting = '', storageName, folder = ''] = process.argv;
if (folder !== '') mkdirSync(join(folder, setting));
const hasKey = setting === 'key' || setting === 'limited';
const server = createA2AServer({
  agent: AGENTS.task,
  storage: await storageNamed(storageName, join(folder, setting)),
  ...(setting === 'idempotent' && { idempotency: { anonymous: true } }),
  ...(hasKey && { authenticator: new ApiKeys([{ key: 'benchmark-key', subject: 'caller' }]) }),
  ...(setting === 'limited' && { rateLimit: { requests: 1_000_000_000, windowMs: 60_000 } }),
});
const { url } = await server.listen(0);
ready(Number(new URL(url).port));
