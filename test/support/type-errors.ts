import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const compiler = fileURLToPath(new URL('../../node_modules/typescript-native/bin/tsc', import.meta.url));

/**
 * The errors of the compiler in the files of a folder, each as `path: message` with a path in it. Writes
 * `tsconfig.json` there. Throws if the compiler refuses the options.
 */
export function typeErrorsIn(folder: string, settings: { readonly extends?: string; readonly options: object }) {
  const { options, ...rest } = settings;
  const compilerOptions = { ...options, noEmit: true, declaration: false, incremental: false };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ ...rest, compilerOptions, include: ['**/*.ts'] }));
  const args = [compiler, '-p', '.', '--pretty', 'false'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  const found = Array.from(stdout.matchAll(/^(\S[^\n(]*)\(\d+,\d+\): error \w+: (.*)$/gm), ([, path, message]) => ({
    path,
    message,
  }));
  if (status !== 0 && found.length === 0) throw new Error(`The compiler ended with ${status}: ${stdout}${stderr}`);
  return found.map(({ path, message }) => `${path}: ${message}`);
}
