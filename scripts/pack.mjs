// Packs the published packages into packed/, and prints the line that installs them in a project.
import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from './build.mjs';
import { ensureInstalled } from './installation.mjs';
import { main, root, runNpm, step } from './processes.mjs';
import { publishedFolders } from './workspaces.mjs';

const folder = join(root, 'packed');

/** The library, the command line and the console. */
const USUAL = /[/\\]parley-a2a(?:-cli|-console)?\.tgz$/;

await main(async () => {
  await ensureInstalled();
  await build(publishedFolders());
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const places = publishedFolders().flatMap((name) => ['-w', name]);
  await step('Packing', () =>
    runNpm(['pack', ...places, '--pack-destination', folder, '--loglevel=error'], { quiet: true }),
  );
  const files = readdirSync(folder).map(withoutVersion);
  const usual = files.filter((file) => USUAL.test(file));
  const others = files.filter((file) => !USUAL.test(file)).map((file) => `  ${quoted(file)}\n`);
  process.stdout.write(`In your own project:\n\n  npm install ${usual.map(quoted).join(' ')}\n`);
  process.stdout.write(`\nFor what else it uses, also:\n\n${others.join('')}`);
});

/** Renames a packed file, so that documents can name it. */
function withoutVersion(name) {
  const path = join(folder, name.replace(/-\d.*/, '.tgz'));
  renameSync(join(folder, name), path);
  return path;
}

function quoted(path) {
  return /^[\w@%+=:,./\\-]+$/.test(path) ? path : JSON.stringify(path);
}
