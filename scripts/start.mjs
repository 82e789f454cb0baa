// `npm start`: installs and builds what is needed, then serves the example agents until a signal ends it.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { build } from './build.mjs';
import { ensureInstalled } from './installation.mjs';
import { main, ownNode, root } from './processes.mjs';

await main(async () => {
  await ensureInstalled();
  await build();
  return serve();
});

function serve() {
  const server = join(root, 'examples/agents/dist/main.js');
  const child = spawn(ownNode, [server, ...process.argv.slice(2)], { cwd: root, stdio: 'inherit' });
  const seen = new Set();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      // The whole group may have got it, and npm passes it on once more: once is enough.
      if (seen.has(signal)) return;
      seen.add(signal);
      child.kill(signal);
    });
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? 128 + (constants.signals[signal] ?? 0)));
  });
}
