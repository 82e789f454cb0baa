// Files of the repository in the package. Copied before `npm pack` and `npm publish`, removed after it.
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from '../../../scripts/build.mjs';
import { main, root } from '../../../scripts/processes.mjs';

const BORROWED = ['CHANGELOG.md', 'docs'];
const here = fileURLToPath(new URL('..', import.meta.url));

await main(async () => {
  const copy = process.argv[2] === 'copy';
  if (copy) await build(['packages/parley']);
  for (const path of BORROWED) {
    rmSync(join(here, path), { recursive: true, force: true });
    if (copy) cpSync(join(root, path), join(here, path), { recursive: true, filter: isForUsers });
  }
  if (copy) leaveOutLinks(join(here, 'docs'));
});

/** Pictures and decisions about the code are for readers of the repository. */
function isForUsers(path) {
  return !['console', 'decisions'].includes(basename(path));
}

/** Leaves out pictures, and links to decisions: rows of tables, and what a link within a sentence leads to. */
function leaveOutLinks(folder) {
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.md'))) {
    const path = join(folder, name);
    const text = readFileSync(path, 'utf8');
    const plain = text
      .replaceAll(/^!\[.*\n\n?/gm, '')
      .replaceAll(/^\| \[[^\]]+\]\(decisions\/.*\n/gm, '')
      .replaceAll(/\[([^\]]+)\]\(decisions\/[^)]+\)/g, '$1');
    if (plain !== text) writeFileSync(path, plain);
  }
}
