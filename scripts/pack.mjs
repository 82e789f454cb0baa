// Packs the published packages into packed/, and prints the line that installs them in a project.
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstalled } from './installation.mjs';
import { main, root, runNpm, step } from './processes.mjs';

const folder = join(root, 'packed');

await main(async () => {
  await ensureInstalled();
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const places = ['packages/parley', 'packages/console', 'packages/cli', 'packages/durable-object'].flatMap((name) => [
    '-w',
    name,
  ]);
  await step('Packing', () =>
    runNpm(['pack', ...places, '--pack-destination', folder, '--loglevel=error'], { quiet: true }),
  );
  const files = readdirSync(folder).map((name) => join(folder, name));
  process.stdout.write(`In your own project:\n\n  npm install ${files.map(quoted).join(' ')}\n`);
});

function quoted(path) {
  return /^[\w@%+=:,./\\-]+$/.test(path) ? path : JSON.stringify(path);
}
