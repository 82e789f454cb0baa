// Writes the tables of settings and limits into docs/configuration.md, from the code that reads them.
import { readFileSync, writeFileSync } from 'node:fs';
import { build } from './build.mjs';
import { ensureInstalled } from './installation.mjs';
import { main } from './processes.mjs';

await main(async () => {
  await ensureInstalled();
  await build();
  const { PAGE, withTables } = await import('./reference-tables.mjs');
  writeFileSync(PAGE, await withTables(readFileSync(PAGE, 'utf8')));
  return 0;
});
