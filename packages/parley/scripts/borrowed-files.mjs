// Files of the repository in the package. Copied before `npm pack` and `npm publish`, removed after it.
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from '../../../scripts/build.mjs';
import { main, root } from '../../../scripts/processes.mjs';

const BORROWED = ['LICENSE', 'CHANGELOG.md', 'docs'];
const here = fileURLToPath(new URL('..', import.meta.url));

await main(async () => {
  const copy = process.argv[2] === 'copy';
  if (copy) await build();
  for (const path of BORROWED) {
    rmSync(join(here, path), { recursive: true, force: true });
    // Pictures are for readers of the repository.
    if (copy) cpSync(join(root, path), join(here, path), { recursive: true, filter: (name) => !name.endsWith('.png') });
  }
});
