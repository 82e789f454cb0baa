import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const compiler = fileURLToPath(new URL('../../node_modules/typescript-native/bin/tsc', import.meta.url));

/** The errors of the compiler, each with the path of its file below a folder. Throws if it cannot check the files. */
export function compilerErrors(folder: string, args: readonly string[]): { path: string; message: string }[] {
  const all = [compiler, ...args, '--noEmit', '--incremental', 'false', '--pretty', 'false'];
  const { status, stdout, stderr } = spawnSync(process.execPath, all, { cwd: folder, encoding: 'utf8' });
  const found = stdout.matchAll(/^(\S[^\n(]*)\(\d+,\d+\): error \w+: (.*)$/gm);
  const errors = Array.from(found, ([, path = '', message = '']) => ({ path, message }));
  if (status !== 0 && errors.length === 0) throw new Error(`The compiler ended with ${status}: ${stdout}${stderr}`);
  return errors;
}

/**
 * The errors of the compiler in the files of a folder, each as `path: message` with a path in it. Writes
 * `tsconfig.json` there.
 */
export function typeErrorsIn(folder: string, settings: { readonly extends?: string; readonly options: object }) {
  const { options: compilerOptions, ...rest } = settings;
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ ...rest, compilerOptions, include: ['**/*.ts'] }));
  return compilerErrors(folder, ['-p', '.', '--declaration', 'false']).map(
    ({ path, message }) => `${path}: ${message}`,
  );
}
