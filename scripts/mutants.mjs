// `npm run mutants`: changes the sources in many places, one at a time, and lists the changes that no test notices.
import { join } from 'node:path';
import { ensureInstalled } from './installation.mjs';
import { CommandFailed, main, root, runOwn, temporaryFolder } from './processes.mjs';
import { installedBeside } from './suite-packages.mjs';

const HELP = `npm run mutants -- [COUNT] [SEED]

Changes the engine, the rules of storages, the codecs and the authentication in COUNT places (default: 300), one at a
time. Runs the tests beside the sources, and the contracts of storages that need no database. Prints each change that
no test noticed. A seed (default: 1) always draws the same changes of the same sources. 300 take about 20 minutes.

  --help              shows this
`;

/** The longest time without a line: the tests run once without a change, and a busy machine is slow. */
const SILENCE_MS = 30 * 60_000;

await main(async () => {
  const args = process.argv.slice(2);
  if (args.includes('--help')) return void process.stdout.write(HELP);
  if (!args.every((arg) => /^[1-9]\d{0,4}$/.test(arg))) throw new CommandFailed('COUNT and SEED are numbers above 0.');
  await ensureInstalled();
  const suite = join(root, 'test/mutations');
  if (!(await installedBeside(suite, 'Mutants are', { scripts: false }))) return 1;
  // A group of its own, so that a signal removes the folder after everything in it has ended.
  const script = [join(suite, 'run-mutants.mjs'), temporaryFolder('mutants'), ...args];
  const { code } = await runOwn(script, { silenceMs: SILENCE_MS });
  return code;
});
