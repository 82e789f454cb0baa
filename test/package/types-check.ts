import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { documentedImports, readmeAgent } from './documents.js';
import { hostless, inProject, peerless, projectWithPeers, repository, subpaths, suite } from './packed.js';

const COMPILERS = {
  '5.9': join(suite.tools, 'node_modules/typescript-5/bin/tsc'),
  '6.0': join(repository, 'node_modules/typescript/bin/tsc'),
  '7.0': join(repository, 'node_modules/typescript-native/bin/tsc'),
};
const STRICT = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true };
const LAX = { strict: false, exactOptionalPropertyTypes: false };
const NODE_TYPES = { lib: ['es2023'], types: ['node'], typeRoots: [join(repository, 'node_modules/@types')] };
const WEB_TYPES = { lib: ['es2023', 'dom'], types: [] };

const exportEverything = (paths: readonly { specifier: string }[]) =>
  paths.map(({ specifier }, index) => `export * as path${index} from '${specifier}';`).join('\n');

const documentedTypes = (paths: readonly { specifier: string }[]) =>
  documentedImports
    .filter(({ specifier }) => paths.some((one) => one.specifier === specifier))
    .map(({ name, specifier }, index) => `export type { ${name} as name${index} } from '${specifier}';`)
    .join('\n');

const SOURCES = {
  'agent.mts': readmeAgent(),
  'everything.mts': exportEverything(peerless),
  'hostless.mts': exportEverything(hostless),
  'documented.mts': documentedTypes(peerless),
  'with-peers.mts': `${exportEverything(subpaths)}\n${documentedTypes(subpaths)}`,
  'wrong.mts': "import { createA2AServer } from 'parley-a2a/node';\ncreateA2AServer({ agent: 1 });\n",
  'named.mts': [
    "import { connect } from 'parley-a2a';",
    "const client = await connect('https://agent.example');",
    'export const card: number = client.card;',
    "const answer = await client.sendMessage('hello');",
    'export const whole: number = answer;',
    'if (answer.task) answer.task.status.message?.parts satisfies number;',
    'else answer.message satisfies number;',
    "const { task, text } = await client.ask('hello');",
    'export const state: string | undefined = task?.status.state;',
    'export const shown: string = text;',
  ].join('\n'),
  'required.cts': [
    "import node = require('parley-a2a/node');",
    "import type { Task } from 'parley-a2a';",
    'export const server: node.A2AServer = node.createA2AServer({ agent: (prompt) => prompt });',
    "export const state = (task: Task): boolean => task.status.state === 'TASK_STATE_COMPLETED';",
  ].join('\n'),
};
type Source = keyof typeof SOURCES;

interface Compilation {
  readonly files: readonly Source[];
  readonly project?: string;
  readonly [option: string]: unknown;
}

async function typeErrors(
  compiler: keyof typeof COMPILERS,
  { files, project = suite.project, ...options }: Compilation,
) {
  const folder = join(project, `types-${crypto.randomUUID()}`);
  mkdirSync(folder);
  for (const file of files) writeFileSync(join(folder, file), SOURCES[file]);
  const compilerOptions = { noEmit: true, target: 'es2023', ...options };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  return (await inProject(process.execPath, [COMPILERS[compiler], '-p', folder])).output;
}

const BUNDLER = { module: 'esnext', moduleResolution: 'bundler' };
// Checking all declarations of all dependencies takes older compilers half a minute.
const THOROUGH = { skipLibCheck: false };
const BRIEF = { skipLibCheck: process.env.TEST_LONG === undefined };
const ALL: readonly Source[] = ['agent.mts', 'everything.mts', 'documented.mts'];
const AND_COMMONJS: readonly Source[] = [...ALL, 'required.cts'];

describe('the types', () => {
  it.each([
    ['node16', '5.9', { ...BRIEF, ...STRICT, ...NODE_TYPES, module: 'node16', files: ALL }],
    ['nodenext', '5.9', { ...BRIEF, ...STRICT, ...WEB_TYPES, module: 'nodenext', files: AND_COMMONJS }],
    ['node16, laxly', '6.0', { ...BRIEF, ...LAX, ...NODE_TYPES, module: 'node16', files: ALL }],
    ['nodenext', '6.0', { ...BRIEF, ...STRICT, ...NODE_TYPES, module: 'nodenext', files: AND_COMMONJS }],
    ['a bundler', '6.0', { ...BRIEF, ...STRICT, ...WEB_TYPES, ...BUNDLER, files: ALL }],
    ['node16', '7.0', { ...BRIEF, ...STRICT, ...WEB_TYPES, module: 'node16', files: ALL }],
    ['nodenext', '7.0', { ...THOROUGH, ...STRICT, ...NODE_TYPES, module: 'nodenext', files: AND_COMMONJS }],
    ['a bundler, laxly', '7.0', { ...BRIEF, ...LAX, ...WEB_TYPES, ...BUNDLER, files: ALL }],
  ] as const)('hold for %s in TypeScript %s', async (_, compiler, options) => {
    expect(await typeErrors(compiler, options)).toBe('');
  });

  it('hold for all import paths where their peers are', async () => {
    const options = { ...BRIEF, ...STRICT, ...NODE_TYPES, module: 'nodenext', project: projectWithPeers() };
    expect(await typeErrors('6.0', { ...options, files: ['with-peers.mts'] })).toBe('');
  });

  it('hold for Workers and browsers, who have no Node', async () => {
    const options = { ...THOROUGH, ...STRICT, module: 'nodenext', types: [], lib: ['es2023', 'webworker'] };
    expect(await typeErrors('7.0', { ...options, files: ['hostless.mts'] })).toBe('');
  });

  it('are there: what is wrong is refused', async () => {
    const output = await typeErrors('7.0', {
      ...BRIEF,
      ...STRICT,
      ...NODE_TYPES,
      module: 'nodenext',
      files: ['wrong.mts'],
    });
    expect(output).toContain("Type 'number' is not assignable");
  });

  it('show names, and a member tells the answers apart', async () => {
    const output = await typeErrors('7.0', {
      ...BRIEF,
      ...BUNDLER,
      ...STRICT,
      ...NODE_TYPES,
      files: ['named.mts'],
    });
    const named = output
      .split('\n')
      .flatMap((line) => /error TS\d+: Type '(.+?)' (?:is|does) not/.exec(line)?.[1] ?? []);
    expect(named).toEqual(['AgentCard', 'SendMessageResponse', 'readonly Part[] | undefined', 'Message']);
  });
});
