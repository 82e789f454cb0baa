// `npm run itk-agent -- --httpPort N --grpcPort M`: serves the traversal agent, which calls agents of other SDKs and is
// called by them, until a signal ends it.
import { build } from './build.mjs';
import { ExampleServer, SERVED_PROJECTS, SIGNALS } from './example-server.mjs';
import { ensureInstalled } from './installation.mjs';
import { main } from './processes.mjs';

const WATCH_MS = 250;

await main(async () => {
  await ensureInstalled();
  await build(SERVED_PROJECTS);
  const server = new ExampleServer('traversal-main.js', process.argv.slice(2));
  for (const signal of SIGNALS) process.on(signal, () => server.signal(signal));
  // npm sends SIGTERM to its shell, which ends without a signal to this process.
  const shell = process.ppid;
  const watch = setInterval(() => process.ppid === shell || server.signal('SIGTERM'), WATCH_MS);
  return server.ended.finally(() => clearInterval(watch));
});
