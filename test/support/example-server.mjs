// The server of the example agents for the suites that are not vitest's.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { plantSecret } from '../../packages/parley/test/planted-secrets.ts';
import { root } from '../../scripts/processes.mjs';
import { watchedOutputs } from './shown-secrets.mjs';

const MAIN = join(root, 'examples/agents/dist/main.js');
const SECRET_KEY = Buffer.from(plantSecret('key').padEnd(32)).toString('base64');

/**
 * The example agents as `npm start` serves them, on a free port and in memory. `stop` throws if the server has shown a
 * planted secret.
 */
export async function startExampleServer(main = MAIN) {
  const port = await freePort();
  const child = spawn(process.execPath, [main], {
    env: {
      PATH: process.env.PATH,
      PORT: String(port),
      HOST: '127.0.0.1',
      DATABASE_URL: 'memory:',
      LOG_LEVEL: 'info',
      A2A_SECRET_KEYS: SECRET_KEY,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const outputs = watchedOutputs(child, 'the example server');
  child.stderr.pipe(process.stderr);
  // No server outlives the suite.
  process.once('exit', () => child.kill('SIGKILL'));
  let said = '';
  await new Promise((ready, failed) => {
    child.stdout.on('data', (chunk) => {
      if (said.includes('"msg":"listening on')) return;
      said += chunk;
      if (said.includes('"msg":"listening on')) ready();
    });
    child.once('exit', (code) => failed(new Error(`The server ended with ${code}:\n${said}`)));
  });
  const closed = once(child, 'close');
  const stop = async () => {
    child.kill('SIGTERM');
    await closed;
    outputs.check();
  };
  return { url: `http://127.0.0.1:${port}`, stop };
}

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  await once(probe, 'close');
  return port;
}
