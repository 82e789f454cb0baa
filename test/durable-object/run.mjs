// Tests the storage in Durable Objects on workerd: the contracts of storages, and agents whose object is evicted. The
// packages of the runtime are installed here the first time. The last line is `N passed, N failed`. Without them the
// suite is left out and says so, unless CI is set.
import { join } from 'node:path';
import { root } from '../../scripts/processes.mjs';
import { installedBeside } from '../../scripts/suite-packages.mjs';
import { countLine, runVitest } from '../../scripts/suites.mjs';

if (!(await installedBeside(join(root, 'test/durable-object'), 'The suite of Durable Objects is'))) {
  process.stdout.write(`${countLine({ passed: 0, failed: process.env.CI ? 1 : 0 })}\n`);
  process.exit(process.env.CI ? 1 : 0);
}

const counts = await runVitest(['--config', 'test/durable-object/vitest.config.ts', ...process.argv.slice(2)]);
process.stdout.write(`${countLine(counts)}\n`);
process.exit(counts.failed === 0 ? 0 : 1);
