// The server of the example agents for the suites that are not vitest's.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { root } from '../../scripts/processes.mjs';

/** The example agents as `npm start` serves them, on a free port and in memory. */
export async function startExampleServer() {
  const port = await freePort();
  const child = spawn(process.execPath, [join(root, 'examples/agents/dist/main.js')], {
    env: { PATH: process.env.PATH, PORT: String(port), HOST: '127.0.0.1', DATABASE_URL: 'memory:', LOG_LEVEL: 'info' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
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
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
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
