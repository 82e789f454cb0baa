import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { parseEnv, promisify } from 'node:util';
import { expect, it, vi } from 'vitest';
import { buildImage } from '../create/dockerfile-steps.js';
import { Reader, type Step, stepsOf } from '../docs/steps.js';
import { freePort } from '../support/servers/free-port.js';
import { NpmRegistry } from '../support/servers/npm-registry.js';
import { PostgresServer } from '../support/servers/postgres-server.js';
import { MINUTES } from './created-project.js';
import { repository, suite } from './packed.js';

const run = promisify(execFile);
const PAGE = readFileSync(join(repository, 'docs/llm-agent.md'), 'utf8');
const DATABASE = 'postgres://agent:agent@localhost:5432/agent';
const ADD_KEY = 'Add `,ada=sha256:…` to `A2A_API_KEYS` in `.env`, and start the server again.';

/** Follows the page in an empty home, with the packages of a registry. */
class Newcomer implements AsyncDisposable {
  readonly #home = join(suite.project, '..', 'llm-agent-home');
  readonly #env: NodeJS.ProcessEnv;
  readonly #port: string;
  readonly #databaseUrl: string;
  readonly #reader: Reader;
  #folder = this.#home;
  #server: { readonly command: string; readonly child: ChildProcess; readonly ended: Promise<unknown> } | undefined;
  #key = '';

  constructor(registry: string, port: string, databaseUrl: string) {
    mkdirSync(this.#home);
    const { PATH = '', NODE_EXTRA_CA_CERTS } = process.env;
    this.#env = {
      PATH: [join(process.execPath, '..'), PATH].join(delimiter),
      HOME: this.#home,
      NODE_EXTRA_CA_CERTS,
      npm_config_registry: registry,
    };
    this.#port = port;
    this.#databaseUrl = databaseUrl;
    this.#reader = new Reader(port);
  }

  get url(): string {
    return `http://localhost:${this.#port}`;
  }

  async follow(step: Step): Promise<void> {
    const command = this.#mine(step.code.trim());
    if (step.language !== 'sh') await this.#save(step.use, this.#mine(step.code));
    else if (step.use === 'serve') await this.#serve(command);
    else if (step.use === '.env') await this.#set(command);
    else if (step.use === 'database') this.#checkDatabase();
    else if (step.use === 'container') await this.#serveContainer();
    else if (step.use === 'refused') await this.#isRefused(step, command);
    else if (step.use === 'kill') {
      await this.#sh(command);
      await this.#server?.ended;
      this.#server = undefined;
    } else {
      if (step.use === 'stopped') await this.#stop();
      await this.#run(step, command);
    }
  }

  file(name: string): string {
    return readFileSync(join(this.#folder, name), 'utf8');
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.#folder, name), text);
  }

  /** The key that the page makes for a caller. */
  get key(): string {
    return this.#key;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop();
  }

  #mine(text: string): string {
    return this.#reader.mine(text).replaceAll(DATABASE, this.#databaseUrl).replaceAll('parley_…', this.#key);
  }

  #sh(command: string, cwd = this.#folder) {
    return run('sh', ['-c', command], { cwd, env: this.#env, timeout: 5 * MINUTES });
  }

  async #run(step: Step, command: string): Promise<void> {
    const [, folder] = /^cd (\S+)$/.exec(command) ?? [];
    if (folder !== undefined) {
      this.#folder = join(this.#folder, folder);
      const settings = this.file('.env').replace(/^# (?=PORT=|AGENT_URL=)/gm, '');
      return this.write('.env', this.#mine(settings));
    }
    const { stdout } = await this.#sh(command);
    if (step.shown !== undefined) this.#reader.compare(step, stdout);
    if (command.includes(' keys create ')) await this.#addKey(stdout);
  }

  async #isRefused(step: Step, command: string): Promise<void> {
    const { code, stderr } = await this.#sh(command).then(
      () => ({ code: 0, stderr: '' }),
      (error: { readonly code: number; readonly stderr: string }) => error,
    );
    expect(code, `line ${step.line}`).toBeGreaterThan(0);
    this.#reader.compare(step, stderr);
  }

  async #addKey(output: string): Promise<void> {
    expect(PAGE).toContain(ADD_KEY);
    const [, key = '', hash = ''] = /^Key: (\S+)\n.*"sha256":"(\w+)"/m.exec(output) ?? [];
    this.#key = key;
    this.write('.env', this.file('.env').replace(/^A2A_API_KEYS=.*/m, `$&,ada=sha256:${hash}`));
    await this.#serve();
  }

  /** Saves a file of the page. A server that watches its files loads it. */
  async #save(name: string, text: string): Promise<void> {
    this.write(name, text);
    const [, agent] = /AgentOptions = \{\n {2}name: '(.*)'/.exec(text) ?? [];
    if (agent === undefined) return;
    await vi.waitFor(
      async () => expect(await (await fetch(`${this.url}/.well-known/agent-card.json`)).text()).toContain(agent),
      MINUTES,
    );
  }

  /** Adds a setting. The key of a model brings the model of the test. */
  async #set(setting: string): Promise<void> {
    if (setting.startsWith('AI_GATEWAY_API_KEY='))
      copyFileSync(join(repository, 'test/package/mock-model.ts'), join(this.#folder, 'model.ts'));
    else this.write('.env', `${this.file('.env')}\n${setting}\n`);
    if (this.#server !== undefined) await this.#serve();
  }

  #checkDatabase(): void {
    const { POSTGRES_USER, POSTGRES_PASSWORD, POSTGRES_DB } = this.#environmentOf('postgres');
    expect(`postgres://${POSTGRES_USER}:${POSTGRES_PASSWORD}@localhost:5432/${POSTGRES_DB}`).toBe(DATABASE);
  }

  /** The environment of a service of Compose. A value that it passes on comes from `.env`. */
  #environmentOf(service: string): NodeJS.ProcessEnv {
    const block = this.file('compose.yaml').split(`\n  ${service}:\n`)[1] ?? '';
    const [, variables = ''] = / environment:\n((?: {6}.*\n)+)/.exec(block) ?? [];
    const settings = parseEnv(this.file('.env'));
    return Object.fromEntries(
      Array.from(variables.matchAll(/(\w+):(?: (.*))?/g), ([, name = '', value = '$']) => [
        name,
        value.startsWith('$') ? settings[name] : value,
      ]),
    );
  }

  /** Runs the steps of the Dockerfile, and serves the image as Compose does. */
  async #serveContainer(): Promise<void> {
    await this.#stop();
    const parent = join(this.#home, 'container');
    mkdirSync(parent);
    const built = await buildImage(this.#folder, parent, (shell, place) => this.#sh(shell, place));
    const env = { ...built.variables, ...this.#environmentOf('agent'), DATABASE_URL: this.#databaseUrl };
    // Only this machine calls the server of a test.
    const { command, image } = built;
    await this.#start(command, image, { ...env, PORT: this.#port, HOST: '127.0.0.1' });
    const [program, ...args] = built.probe;
    await run(program, args, { env: { ...this.#env, PORT: this.#port } });
  }

  async #serve(command = this.#server?.command ?? ''): Promise<void> {
    await this.#stop();
    await this.#start(['sh', '-c', `exec ${command}`], this.#folder, {}, command);
  }

  async #start(
    [program, ...args]: readonly [string, ...string[]],
    cwd: string,
    more: object,
    command = '',
  ): Promise<void> {
    const child = spawn(program, args, { cwd, env: { ...this.#env, ...more }, stdio: 'pipe', detached: true });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += String(text)));
    this.#server = { command, child, ended: once(child, 'exit') };
    const isHealthy = () =>
      fetch(`${this.url}/healthz`).then(
        ({ ok }) => ok,
        () => false,
      );
    await vi.waitFor(async () => expect(await isHealthy(), output).toBe(true), MINUTES);
  }

  /** Ends the server as Ctrl-C does. */
  async #stop(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    const { pid, exitCode } = server.child;
    if (pid !== undefined && exitCode === null) process.kill(-pid, 'SIGINT');
    await server.ended;
    this.#server = undefined;
    await expect(fetch(`${this.url}/healthz`)).rejects.toThrow();
  }
}

const isLong = process.env.TEST_LONG !== undefined;
it.runIf(isLong)(
  'the page of an LLM agent in production can be followed literally',
  { timeout: 10 * MINUTES },
  async () => {
    const registry = await NpmRegistry.start(join(suite.project, '../registry-of-page'));
    try {
      await registry.publish(Object.values(suite.tarballs));
      await using database = await PostgresServer.start();
      const port = String(await freePort());
      await using newcomer = new Newcomer(registry.url, port, await database.newDatabase());
      for (const step of stepsOf(PAGE)) await newcomer.follow(step);

      newcomer.write('prometheus-key', newcomer.key);
      const scrape = newcomer.file('prometheus.yml');
      const [, header = '', file = ''] = /^ {6}(\S+): \{ files: \[(.*)\] \}$/m.exec(scrape) ?? [];
      const [, target = ''] = /targets: \['(.*)'\]/.exec(scrape) ?? [];
      const read = (headers: Readonly<Record<string, string>>) =>
        fetch(`http://${target}/metrics`, { headers: { accept: 'text/plain;version=0.0.4', ...headers } });
      expect((await read({})).status).toBe(401);
      const metrics = await (await read({ [header]: newcomer.file(file) })).text();
      const rules = newcomer
        .file('alerts.yaml')
        .split(/(?= {6}- alert)/)
        .slice(1);
      expect(rules.length).toBeGreaterThan(0);
      const all = readFileSync(join(repository, 'deploy/prometheus-rules.yaml'), 'utf8');
      // There, the summary is the first of several annotations.
      for (const rule of rules)
        expect(all).toContain(rule.replace(/annotations: \{ (.*) \}/, 'annotations:\n          $1'));
      for (const [series] of rules.join('').matchAll(/\ba2a_\w+/g))
        expect(metrics).toMatch(new RegExp(`^# TYPE ${series} `, 'm'));
    } finally {
      registry.stop();
    }
  },
);
