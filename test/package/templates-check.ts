import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { TEMPLATE_NAMES } from '../../packages/cli/src/init/template-names.js';
import { inProject, repository, suite } from './packed.js';

/** Reads what a server prints until it tells its address. Its output stays open: a server may print more. */
function addressOf(server: ReturnType<typeof spawn>): Promise<string> {
  let text = '';
  return new Promise((resolve, reject) => {
    server.stdout?.on('data', (piece) => {
      text += String(piece);
      const [url] = /http:\/\/(?:127\.0\.0\.1|localhost):\d+[\w/]*/.exec(text) ?? [];
      if (url !== undefined) resolve(url);
    });
    server.once('exit', () => reject(new Error(`the server has ended: ${text}`)));
  });
}

interface ProjectManifest {
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

/** The longest installation. Most packages are in the cache of npm after the first project. */
const INSTALL_MS = 120_000;
/** False once npm could not install a project: the registry is then not asked again. */
let isReachable = true;
/** Templates whose packages come from the registry also in the short form. The others use those of the repository. */
const INSTALLED: readonly string[] = ['minimal'];

/** Packed packages by name. */
type Tarballs = Readonly<Record<string, string>>;

/** Installs a project from the packed packages and from the registry, with the npm settings of the environment. */
async function installed(project: string, own: Tarballs): Promise<boolean> {
  if (!isReachable) return false;
  const flags = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error', '--fetch-retries=1'];
  const args = ['install', ...Object.values(own), ...flags, '--fetch-timeout=20000'];
  try {
    await promisify(execFile)('npm', args, { cwd: project, timeout: INSTALL_MS });
  } catch {
    isReachable = false;
    rmSync(join(project, 'node_modules'), { recursive: true, force: true });
  }
  return isReachable;
}

/**
 * The packed packages, and the others as the repository has them, for machines without a registry. Their versions must
 * be those that the project asks for.
 */
function linkModules(project: string, own: Tarballs, wanted: Readonly<Record<string, string>>): void {
  const modules = join(project, 'node_modules');
  mkdirSync(join(modules, '.bin'), { recursive: true });
  const names = new Set(Object.keys(wanted));
  for (const [name, tarball] of Object.entries(own)) {
    const folder = join(modules, name);
    mkdirSync(folder);
    execFileSync('tar', ['-xzf', tarball, '--strip-components=1', '-C', folder]);
    const { dependencies = {} } = manifestOf(folder);
    for (const dependency of Object.keys(dependencies)) names.add(dependency);
  }
  for (const name of names) {
    if (name in own) continue;
    const source = join(repository, 'node_modules', name);
    const [major] = manifestOf(source).version.split('.');
    const range = wanted[name];
    // Types of Node.js belong to the version that the repository runs.
    if (range !== undefined && name !== '@types/node')
      expect([name, range]).toEqual([name, `^${major}.${range.split('.').slice(1).join('.')}`]);
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(source, join(modules, name));
  }
  symlinkSync(join(modules, 'parley-a2a-cli/bin/parley.js'), join(modules, '.bin/parley'));
  symlinkSync(join(repository, 'node_modules/.bin/tsc'), join(modules, '.bin/tsc'));
}

function manifestOf(folder: string): { readonly version: string; readonly dependencies?: Record<string, string> } {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

it.each(TEMPLATE_NAMES)(
  'a project of the template %s has the right types, passes its tests and answers',
  {
    timeout: 500_000,
  },
  async (template) => {
    const project = join(suite.project, '..', `template-${template}`);
    const parley = join(repository, 'packages/cli/bin/parley.js');
    const made = await inProject(process.execPath, [parley, 'init', project, '--template', template]);
    expect(made).toMatchObject({ code: 0 });
    const { scripts, ...packages } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as ProjectManifest;
    const npm = (...args: readonly string[]) => inProject('npm', args, project, 240_000);
    const dependencies = { ...packages.dependencies, ...packages.devDependencies };
    const own = Object.fromEntries(Object.entries(suite.tarballs).filter(([name]) => name in dependencies));
    const isWanted = process.env.TEST_LONG !== undefined || INSTALLED.includes(template);
    if (!isWanted || !(await installed(project, own))) {
      if (isWanted) process.stdout.write(`npm could not install the template ${template}; the repository has it\n`);
      linkModules(project, own, dependencies);
    }
    expect(await npm('run', 'check')).toMatchObject({ code: 0 });
    const tested = await npm('test');
    expect(tested.output).toMatch(/^\S+ pass [1-9]\d*$/m);
    expect(tested.code).toBe(0);

    const [command = '', ...args] = (scripts.start ?? '').split(' ');
    const isServed = command === 'parley';
    const program = isServed ? [join(project, 'node_modules/.bin/parley'), ...args, '--port', '0'] : args;
    const { PATH, HOME } = process.env;
    const server = spawn(process.execPath, program, {
      cwd: project,
      env: { PATH, HOME, PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(server, 'exit');
    try {
      const url = await addressOf(server);
      const { output } = await inProject('npx', ['parley', 'send', '-a', url, 'hello 5'], project);
      expect(output).toMatch(/State: COMPLETED/);
    } finally {
      server.kill('SIGTERM');
      await ended;
    }
  },
);
