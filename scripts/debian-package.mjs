// Programs that tests need and npm does not have.
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { run } from './processes.mjs';

/**
 * True if a program with these arguments can run. As root on Debian, and in CI, the script installs it. Otherwise it
 * prints what is left out and how to install the program. In CI a missing program is an error.
 */
export async function hasProgram({ command: [program, ...args], debianPackage, leftOut }) {
  if (!process.env.PATH?.split(delimiter).includes('/usr/sbin')) {
    process.env.PATH = [process.env.PATH, '/usr/sbin'].join(delimiter);
  }
  if (await runs(program, args)) return true;
  const isRoot = process.getuid?.() === 0;
  if (process.env.CI || (isRoot && existsSync('/etc/debian_version'))) {
    // Concurrent suites wait for each other, because the package manager serves one caller at a time.
    const oneAtOnce = ['flock', join(tmpdir(), 'parley-apt.lock')];
    const aptGet = isRoot ? [...oneAtOnce, 'apt-get'] : [...oneAtOnce, 'sudo', '-n', 'apt-get'];
    const install = ['install', '-qq', '-y', '--no-install-recommends', debianPackage];
    process.env.DEBIAN_FRONTEND = 'noninteractive';
    // The package lists of the machine may be outdated or empty.
    for (const step of [install, ['update', '-qq'], install]) {
      const [first, ...rest] = [...aptGet, ...step];
      if ((await runs(first, rest)) && step === install && (await runs(program, args))) return true;
    }
  }
  process.stdout.write(
    `${leftOut} left out: install ${debianPackage} (apt-get install ${debianPackage}) to run them.\n`,
  );
  if (process.env.CI) throw new Error(`${debianPackage} could not be installed`);
  return false;
}

/** True if tests have a browser. Chromium without windows needs a fifth of the CPU time of the usual one. */
export function hasChromium(leftOut) {
  const name = 'chromium-headless-shell';
  return hasProgram({ command: [name, '--version'], debianPackage: name, leftOut });
}

async function runs(program, args) {
  try {
    return (await run(program, args, { quiet: true })).code === 0;
  } catch {
    return false;
  }
}
