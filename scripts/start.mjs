// `npm start`: installs and builds if needed, then serves the example agents until a signal ends it. With `--watch` it
// does so again after every change of a source. With `--build` it does not serve.
import { parseArgs } from 'node:util';
import { build } from './build.mjs';
import { ExampleServer, SERVED_PROJECT, SERVED_PROJECTS, SIGNALS } from './example-server.mjs';
import { ensureInstalled } from './installation.mjs';
import { CommandFailed, main } from './processes.mjs';
import { serveAndWatch } from './watch.mjs';

const HELP = `npm start -- [options]

Serves the example agents on http://127.0.0.1:8080, their tasks in ./data.

  --watch   builds and serves again when a source of the agents or of the library changes
  --build   builds only, as the Dockerfile does
  --help    shows this

HOST, PORT, DATABASE_URL, LOG_LEVEL and more: docs/configuration.md
`;

await main(async () => {
  const { watch, build: buildsOnly, help } = optionsOf(process.argv.slice(2));
  if (help) return void process.stdout.write(HELP);
  await ensureInstalled(SERVED_PROJECT);
  if (watch) return serveAndWatch();
  await build(SERVED_PROJECTS, { checksTypes: false });
  return buildsOnly ? 0 : serve();
});

function optionsOf(args) {
  try {
    const flag = { type: 'boolean' };
    return parseArgs({ args, options: { watch: flag, build: flag, help: { ...flag, short: 'h' } } }).values;
  } catch (error) {
    throw new CommandFailed(`${error.message}\n\n${HELP}`);
  }
}

function serve() {
  const server = new ExampleServer();
  for (const signal of SIGNALS) process.on(signal, () => server.signal(signal));
  return server.ended;
}
