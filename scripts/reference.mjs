// Writes what the code says into the reference tables of the documents: settings, options, limits, errors, metrics,
// alerts, commands and flags.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from './build.mjs';
import { ensureInstalled } from './installation.mjs';
import { main, root } from './processes.mjs';

await main(async () => {
  await ensureInstalled();
  await build();
  const { REFERENCE_FILES, referenceFile } = await import('./reference-tables.mjs');
  for (const path of REFERENCE_FILES) writeFileSync(join(root, path), await referenceFile(path));
  return 0;
});
