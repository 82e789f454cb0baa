import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Copy, DockerfileParser, type Instruction } from 'dockerfile-ast';
import { CopiedTree } from '../support/copied-tree.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (name: string) => readFileSync(join(root, name), 'utf8');
const asRoot = process.getuid?.() === 0;

/** True if a file of the checkout is part of the build context. */
export const inContext = contextOf(read('.dockerignore'));

/** Options of `docker run`, and the end of the container. */
export interface ContainerOptions {
  readonly env: Readonly<Record<string, string>>;
}

/**
 * The image of the Dockerfile, in a folder. Runs every instruction as far as that works without containers. The Node.js
 * of the repository and the npm of the machine replace the base image. The build finds installed packages, as in
 * the checkout.
 */
export class StagedImage implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'parley-image-'));
  readonly #context = new CopiedTree(inContext);
  readonly #env: Record<string, string> = {};
  #stage = '';
  #workdir = '/';
  /** The user of the last stage; `root` unless the file says otherwise. */
  user = 'root';
  command: readonly string[] = [];
  healthCheck: readonly string[] = [];
  stopSignal = '';
  volumes: readonly string[] = [];

  constructor() {
    // The user of the container must have access.
    chmodSync(this.#folder, 0o755);
    mkdirSync(join(this.#folder, 'bin'));
    copyFileSync(process.execPath, join(this.#folder, 'bin/node'));
    try {
      for (const instruction of DockerfileParser.parse(read('Dockerfile')).getInstructions())
        this.#carryOut(instruction);
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  /** The path on this machine of a file in the working folder of the image. */
  path(path = ''): string {
    return join(this.#folder, this.#stage, this.#workdir, path);
  }

  /** Starts a command of the image as its user and with its environment. */
  run(command: readonly string[], { env }: ContainerOptions) {
    const [program = '', ...args] = command;
    const user = Number(this.user);
    return spawn(program, args, {
      cwd: this.path(),
      env: { ...this.#env, ...env, PATH: join(this.#folder, 'bin') },
      stdio: 'pipe',
      ...(asRoot && { uid: user, gid: user }),
    });
  }

  [Symbol.dispose](): void {
    this.#context[Symbol.dispose]();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #carryOut(instruction: Instruction): void {
    const words = instruction.getArguments().map((argument) => argument.getValue());
    const text = instruction.getArgumentsContent() ?? '';
    switch (instruction.getKeyword()) {
      case 'FROM':
        this.#stage = words[2] ?? 'final';
        break;
      case 'WORKDIR':
        this.#workdir = words[0] ?? '/';
        mkdirSync(this.path(), { recursive: true });
        break;
      case 'COPY':
        this.#copy(instruction as Copy);
        break;
      case 'RUN':
        this.#shell(text);
        break;
      case 'ENV':
        for (const [, name = '', value = ''] of text.matchAll(/(\w+)=(\S+)/g)) this.#env[name] = value;
        break;
      case 'USER':
        this.user = text;
        break;
      case 'CMD':
        this.command = JSON.parse(text) as string[];
        break;
      case 'HEALTHCHECK':
        this.healthCheck = JSON.parse(text.slice(text.indexOf('['))) as string[];
        break;
      case 'STOPSIGNAL':
        this.stopSignal = text;
        break;
      case 'VOLUME':
        this.volumes = words;
        break;
      case 'ARG':
      case 'EXPOSE':
        break;
      default:
        throw new Error(`The test does not know ${instruction.getKeyword()}`);
    }
  }

  #copy(copy: Copy): void {
    const flags = new Map(copy.getFlags().map((flag) => [flag.getName(), flag.getValue()]));
    const from = flags.get('from');
    const paths = copy.getArguments().map((argument) => argument.getValue());
    const target = paths.pop() ?? '';
    for (const path of paths) {
      const source = from == null ? this.#context.path(path) : join(this.#folder, from, path);
      // Of a folder its content is copied, a file goes into the folder named.
      const into = target.endsWith('/') && !statSync(source).isDirectory();
      const place = this.path(into ? join(target, basename(path)) : target);
      mkdirSync(dirname(place), { recursive: true });
      cpSync(source, place, { recursive: true, verbatimSymlinks: true });
      if (asRoot && flags.has('chown')) chownSync(place, 1000, 1000);
    }
  }

  #shell(command: string): void {
    // The machine decides how npm gets its packages.
    const env = { ...process.env, ...this.#env, PATH: `${join(this.#folder, 'bin')}:${process.env.PATH}` };
    execFileSync('sh', ['-c', command], { cwd: this.path(), env, stdio: 'pipe' });
  }
}

function contextOf(ignored: string): (path: string) => boolean {
  const patterns = ignored.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const rules = patterns.map((pattern) => {
    const anywhere = pattern.startsWith('**/');
    const name = pattern.replace('**/', '').replace(/[.]/g, '\\.').replace(/\*/g, '[^/]*');
    return new RegExp(`${anywhere ? '(?:^|/)' : '^'}${name}(?:/|$)`);
  });
  return (path) => !rules.some((rule) => rule.test(path));
}
