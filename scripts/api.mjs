// Writes the report of the public types of each package, `api.txt`, from its built types.
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { build } from './build.mjs';
import { ensureInstalled } from './installation.mjs';
import { main, root } from './processes.mjs';

await main(async () => {
  await ensureInstalled();
  await build();
  const { outdatedApis, reportFile, reportOf } = await import('./api-report.mjs');
  for (const api of outdatedApis()) {
    writeFileSync(reportFile(api), reportOf(api));
    process.stdout.write(`Wrote ${relative(root, reportFile(api))}\n`);
  }
  return 0;
});
