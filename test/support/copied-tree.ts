import { execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Files of a built checkout that git ignores. */
const BUILT = [
  '.cache/build.json',
  'packages/parley/bundle',
  'packages/parley/dist',
  'packages/console/bundle',
  'packages/console/dist',
  'packages/grpc/dist',
  'examples/agents/dist',
];

/** A copy of the repository, installed and built as it is, for tests that change sources. */
export class CopiedTree implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'parley-tree-'));

  /** Copies only the wanted files of those that git tracks, and of what is built. */
  constructor(wanted: (path: string) => boolean = () => true) {
    const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root });
    const generated = readdirSync(join(root, 'packages/parley/src/model')).filter((name) =>
      name.includes('.generated.'),
    );
    const files = listed
      .toString()
      .split('\0')
      .filter((path) => path !== '' && wanted(path));
    const built = [...BUILT, ...generated.map((name) => `packages/parley/src/model/${name}`)].filter(wanted);
    for (const path of [...files, ...built]) {
      mkdirSync(dirname(this.path(path)), { recursive: true });
      cpSync(join(root, path), this.path(path), { recursive: true });
    }
    this.#install();
  }

  path(path: string): string {
    return join(this.folder, path);
  }

  /** Replaces a text of a file. The text must be present. */
  edit(path: string, from: string, to: string): void {
    const text = readFileSync(this.path(path), 'utf8');
    if (!text.includes(from)) throw new Error(`${path} does not contain ${from}`);
    writeFileSync(
      this.path(path),
      text.replace(from, () => to),
    );
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Links the packages. Packages of the repository itself link into the copy. */
  #install(): void {
    const modules = join(root, 'node_modules');
    mkdirSync(this.path('node_modules'));
    for (const entry of readdirSync(modules, { withFileTypes: true })) {
      const own = entry.isSymbolicLink() && readlinkSync(join(modules, entry.name)).startsWith('..');
      const target = own ? readlinkSync(join(modules, entry.name)) : join(modules, entry.name);
      symlinkSync(target, this.path(`node_modules/${entry.name}`));
    }
  }
}
