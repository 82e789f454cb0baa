// Our server with a finishing agent: open, with push, with idempotent sends, with an API key, with an API key and
// rates, or with tokens.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ApiKeys, JwtBearer } from 'parley-a2a/auth';
import { createA2AServer } from 'parley-a2a/node';
import { TOKEN_RULES } from './benchmark-token.js';
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
  ...(setting === 'token' && { authenticator: new JwtBearer(TOKEN_RULES) }),
  ...(setting === 'push' && { push: { allow: ['127.0.0.1'] } }),
  ...(setting === 'limited' && { rateLimit: { requests: 1_000_000_000, windowMs: 60_000 } }),
});
const { url } = await server.listen(0);
ready(Number(new URL(url).port));
