import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Paths of everything that run.mjs has prepared. */
interface Suite {
  /** The packed packages, by name. */
  readonly tarballs: Readonly<Record<string, string>>;
  /** A project with nothing installed but the package. */
  readonly project: string;
  /** A project with the package, the console and the command line. */
  readonly commands: string;
  /** The folder of the packages of tools/package.json. */
  readonly tools: string;
  readonly oldestNode: string;
}

/** The files of a path that differs between hosts. */
interface Targets {
  readonly types: string;
  readonly node?: string;
  readonly default: string;
}

interface Manifest {
  readonly exports: Readonly<Record<string, Targets>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly [name: string]: unknown;
}

export const suite = JSON.parse(process.env.PACKAGE_SUITE ?? '{}') as Suite;

/** The packed file of a package. */
export function tarballOf(name: string): string {
  const path = suite.tarballs[name];
  if (path === undefined) throw new Error(`${name} is not packed`);
  return path;
}

export const repository = fileURLToPath(new URL('../..', import.meta.url));
export const installed = join(suite.project, 'node_modules/parley-a2a');
export const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as Manifest;

// The compiler writes every import in one form.
const STATIC_IMPORT = /^(?:import|export) (?:[^'"=;()]* from )?['"]([^'"]+)['"];/gm;

/** A public path of the package, and what its files import. */
export interface Subpath {
  /** As an application imports it. */
  readonly specifier: string;
  /** Modules outside of the package that loading this path loads on hosts without Node.js. */
  readonly webModules: readonly string[];
  /** Modules outside of the package that loading this path loads on Node.js. */
  readonly modules: readonly string[];
  /** The same for its types. */
  readonly typeModules: readonly string[];
}

export const subpaths: readonly Subpath[] = Object.entries(manifest.exports).map(([key, target]) => {
  const targets = { node: target.default, ...target };
  return {
    specifier: key.replace('.', 'parley-a2a'),
    webModules: modulesOf(targets.default),
    modules: modulesOf(targets.node),
    typeModules: modulesOf(targets.types),
  };
});

const peers = Object.keys(manifest.peerDependencies ?? {});
const isPeer = (module: string) => peers.some((peer) => module === peer || module.startsWith(`${peer}/`));

/** The public paths that need no optional peer, at run time and for their types. */
export const peerless = subpaths.filter(({ modules, typeModules }) => ![...modules, ...typeModules].some(isPeer));

/** Their types name Node.js, or they load drivers of databases when they are used. */
const FOR_NODE = ['binding-kit', 'push-receiver'].map((name) => `parley-a2a/${name}`);

/** The public paths without a host, a driver, a kit or a logging library. They must load without Node.js. */
export const hostless = subpaths.filter(
  ({ specifier, webModules }) =>
    !FOR_NODE.includes(specifier) && !webModules.some((module) => isBuiltin(module) || isPeer(module)),
);

/** Follows static imports from one file of the package. Lazy imports are not followed. */
function modulesOf(entry: string): string[] {
  const files = new Set<string>();
  const modules = new Set<string>();
  const walk = (file: string): void => {
    if (files.has(file)) return;
    files.add(file);
    const text = readFileSync(join(installed, file), 'utf8');
    for (const [, specifier] of text.matchAll(STATIC_IMPORT)) {
      if (specifier === undefined) continue;
      if (!specifier.startsWith('.')) modules.add(specifier);
      else walk(declarationOf(join(file, '..', specifier), file));
    }
  };
  walk(join(entry));
  return [...modules];
}

function declarationOf(target: string, from: string): string {
  if (!from.endsWith('.d.ts')) return target;
  const types = target.replace(/\.js$/, '.d.ts');
  return existsSync(join(installed, types)) ? types : target;
}

/** Output and exit code of a command. */
export interface Ran {
  readonly code: number;
  readonly output: string;
}

/** Runs a command in the project, with a clean environment. */
export function inProject(
  command: string,
  args: readonly string[],
  project = suite.project,
  timeout = 60_000,
): Promise<Ran> {
  const { PATH, HOME, TMPDIR } = process.env;
  const env = { PATH, HOME, TMPDIR, NODE_NO_WARNINGS: '1' };
  return new Promise((resolve) => {
    execFile(command, args, { cwd: project, env, timeout }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
      resolve({ code, output: `${stdout}${stderr}` });
    });
  });
}

/** Puts a file into the project; gives its path. */
export function projectFile(name: string, text: string): string {
  const path = join(suite.project, name);
  writeFileSync(path, text);
  return path;
}

/** A second project, with the optional peers as the repository has them; gives its path. */
export function projectWithPeers(): string {
  const project = join(suite.project, '..', 'with-peers');
  const modules = join(project, 'node_modules');
  if (existsSync(project)) return project;
  mkdirSync(join(modules, '@types'), { recursive: true });
  const link = (from: string, name: string) => {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    if (existsSync(join(from, name))) symlinkSync(join(from, name), join(modules, name));
  };
  // A copy, because a linked package would not find the peers.
  cpSync(installed, join(modules, 'parley-a2a'), { recursive: true });
  const own = join(suite.project, 'node_modules');
  for (const name of readdirSync(own)) if (!/^\.|parley-a2a/.test(name)) link(own, name);
  for (const peer of peers) {
    link(join(repository, 'node_modules'), peer);
    link(join(repository, 'node_modules'), `@types/${peer}`);
  }
  return project;
}
