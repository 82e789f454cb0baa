// Programs in Go for suites. Each is built once into .cache/, with the modules that its go.sum names.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { alone, root, run } from './processes.mjs';

/** Without optimizations, which take a quarter of the time. All programs have the same, so that they share packages. */
const FLAGS = ['-gcflags=all=-N -l'];

/**
 * The path of the program in a folder. If it cannot be built, prints why the suite is left out and how to run it, and
 * returns undefined. In CI that is an error.
 */
export async function goProgramOf(folder, leftOut) {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}`);
  for (const name of readdirSync(folder).sort()) hash.update(readFileSync(join(folder, name)));
  const program = join(root, '.cache', `go-${hash.digest('hex').slice(0, 12)}`);
  // Builds beside each other would compile the packages that they share twice.
  const lock = join(root, '.cache/go.lock');
  const fault = await alone(lock, () => (existsSync(program) ? undefined : build(folder, program)));
  if (fault === undefined) return program;
  const said = `${leftOut} left out: ${fault}`;
  if (process.env.CI) throw new Error(said);
  process.stdout.write(`${said}\n`);
  return undefined;
}

/** Builds the program. If that fails: what to do. */
async function build(folder, program) {
  try {
    const { code, output } = await run('go', ['build', '-C', folder, ...FLAGS, '-o', program, '.'], { quiet: true });
    if (code === 0) return undefined;
    return `it could not be built; see whether Go is 1.24 or newer and reaches its module proxy. ${output.trim()}`;
  } catch {
    return 'there is no Go on the path; install Go 1.25 or newer to run them.';
  }
}
