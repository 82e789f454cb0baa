// The server of the example agents for the suites that are not vitest's.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
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
  const child = spawn(process.execPath, [main], {
    env: {
      PATH: process.env.PATH,
      PORT: '0',
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
  const url = await new Promise((ready, failed) => {
    const read = (chunk) => {
      said += chunk;
      const [, listening] = /"msg":"listening on (http[^"]+)"/.exec(said) ?? [];
      if (listening === undefined) return;
      child.stdout.off('data', read);
      ready(listening);
    };
    child.stdout.on('data', read);
    child.once('exit', (code) => failed(new Error(`The server ended with ${code}:\n${said}`)));
  });
  const closed = once(child, 'close');
  const stop = async () => {
    child.kill('SIGTERM');
    await closed;
    outputs.check();
  };
  return { url, stop };
}
