import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, vi } from 'vitest';
import { EmptyFolder } from '../cli/parley.js';
import { OtlpReceiver } from './otlp-receiver.js';

const PAGE = readFileSync(new URL('../../docs/tracing.md', import.meta.url), 'utf8');
const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url));
const VIEWER = 'http://localhost:4318';
const WAIT = 120_000;

/** The blocks of the first steps of the page, by language and order, without the indent of a list. */
const [, section = ''] = /^## Five minutes to a picture\n(.*?)^## /ms.exec(PAGE) ?? [];
const blocksOf = (language: string) =>
  Array.from(section.matchAll(new RegExp(`^   \`\`\`${language}\n(.*?)^   \`\`\``, 'gms')), ([, block = '']) =>
    block.replaceAll(/^ {3}/gm, ''),
  );
const [viewer = '', install = '', run = ''] = blocksOf('sh');
const [sdk = ''] = blocksOf('js');
const [server = ''] = blocksOf('ts');

/** Runs the program of the page until it is stopped. */
function runProgram(folder: EmptyFolder, env: Readonly<Record<string, string>>) {
  symlinkSync(MODULES, join(folder.path, 'node_modules'));
  writeFileSync(join(folder.path, 'spans.mjs'), sdk);
  writeFileSync(join(folder.path, 'server.mjs'), server.replace('8080', '0'));
  const [command = '', ...args] = run.trim().split(' ');
  expect(command).toBe('node');
  return spawnCommand(process.execPath, args, { cwd: folder.path, env });
}

/** Starts a program in a group of its own, because npx runs the viewer as a child. */
function spawnCommand(
  command: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env: object },
) {
  // The Node.js of the tests is that of npx too.
  const path = [dirname(process.execPath), process.env.PATH].join(delimiter);
  const env = { ...process.env, PATH: path, ...options.env };
  const program = spawn(command, args, { ...options, env, detached: true, stdio: 'ignore' });
  const stop = async () => {
    if (program.pid === undefined || program.exitCode !== null) return;
    process.kill(-program.pid, 'SIGKILL');
    await once(program, 'close');
  };
  return { [Symbol.asyncDispose]: stop };
}

it('the steps of the page lead to one trace of client, server and agent', { timeout: WAIT }, async () => {
  await using receiver = await OtlpReceiver.start();
  using folder = new EmptyFolder();
  await using _program = runProgram(folder, { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: receiver.url });
  const findSpans = (name: string) => receiver.spans.filter((span) => span.name === name);
  await vi.waitFor(() => expect(findSpans('invoke_agent Echo')).toHaveLength(1), WAIT);
  const [call, answer] = ['CLIENT', 'SERVER'].map((kind) =>
    findSpans('SendStreamingMessage').find((span) => span.kind === kind),
  );
  expect(answer?.parent).toBe(call?.spanId);
  expect(findSpans('invoke_agent Echo')[0]?.parent).toBe(answer?.spanId);
});

it('the page installs what its files import, and no more', () => {
  const packages = install.split(/\s+/).filter((word) => !['npm', 'install', ''].includes(word));
  const imported = Array.from(`${sdk}${server}`.matchAll(/ from '([^']+)'/g), ([, name = '']) => name);
  expect(packages.toSorted()).toEqual([...new Set(imported)].toSorted());
});

it.runIf(process.env.TEST_LONG !== undefined)('the viewer of the page shows the trace', { timeout: WAIT }, async () => {
  using folder = new EmptyFolder();
  const home = join(folder.path, 'home');
  mkdirSync(home);
  const [command = '', ...args] = viewer.trim().split(' ');
  expect(command).toBe('npx');
  await using _viewer = spawnCommand(command, ['--yes', ...args], { cwd: home, env: { HOME: home } });
  const readTraces = async () => (await fetch(`${VIEWER}/v1/traces`)).text();
  await vi.waitFor(readTraces, WAIT);
  await using _program = runProgram(folder, {});
  await vi.waitFor(async () => expect(await readTraces()).toContain('invoke_agent Echo'), WAIT);
  expect(await (await fetch(VIEWER)).text()).toContain('<script');
  expect(section).toContain(VIEWER);
});
