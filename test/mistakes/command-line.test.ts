import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createA2AHost, createA2AServer, silentLogger as logger } from 'parley-a2a';
import { ApiKeys } from 'parley-a2a/auth';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EmptyFolder, PARLEY, parley } from '../cli/parley.js';
import { COMMAND_MISTAKES, type Places } from './command-line-table.js';

const agent = (prompt: string): string => prompt;
const authenticator = new ApiKeys([{ key: 'right', subject: 'ada' }]);
const servers = [
  createA2AServer({ agent, logger }),
  createA2AServer({ agent, logger, authenticator }),
  createA2AHost({ agents: { '/a': { agent }, '/b': { agent } }, logger }),
] as const;
const folder = new EmptyFolder();
let places: Places;

beforeAll(async () => {
  const [url = '', guarded = '', host = ''] = await Promise.all(
    servers.map(async (server) => (await server.listen(0)).url),
  );
  places = { url, guarded, host };
});
afterAll(async () => {
  folder[Symbol.dispose]();
  await Promise.all(servers.map((server) => server.close({ graceMs: 0 })));
});

describe.concurrent('at the command line', () => {
  it.each(COMMAND_MISTAKES)('$name is told what to do', async ({ args, file, prints }) => {
    const path = file === undefined ? undefined : join(folder.path, file[0]);
    if (path !== undefined) writeFileSync(path, file?.[1] ?? '');
    const { code, stderr } = await parley([...args(places), ...(path === undefined ? [] : [path])]);
    const shown = path === undefined ? stderr : stderr.replaceAll(path, 'FILE');
    expect(shown).toContain(prints);
    expect(shown).not.toContain('    at ');
    expect(code).not.toBe(0);
  });
});

it('a syntax error in an imported module is named with its line', async () => {
  const broken = join(folder.path, 'imported.mjs');
  writeFileSync(broken, 'export const x = 1;\nconst y = ;\n');
  writeFileSync(join(folder.path, 'importing.mjs'), "import { x } from './imported.mjs';\nexport default () => x;\n");
  const { stderr } = await parley(['serve', '--port', '0', join(folder.path, 'importing.mjs')]);
  expect(stderr).toContain(`${broken}:2: SyntaxError: Unexpected token ';'`);
});

describe('an old Node.js is named in one sentence', () => {
  const old = `data:text/javascript,Object.defineProperty(process.versions,'node',{value:'20.11.1'});delete Promise.withResolvers;delete URL.parse`;
  const programs = {
    'of a server': "import('parley-a2a').then(({ createA2AServer }) => createA2AServer({ agent: (prompt) => prompt }))",
    'of a handler':
      "import('parley-a2a/server').then(({ createAgentHandler }) => createAgentHandler({ agent: () => '' }))",
    'of a client': "import('parley-a2a/client').then(({ connect }) => connect('localhost:4'))",
    'of a test': "import('parley-a2a-testing').then(({ runAgent }) => runAgent(() => '', 'hello'))",
  };

  it.each(Object.entries(programs))('%s', (_, program) => {
    const { stderr } = spawnSync(process.execPath, ['--import', old, '--input-type=module', '-e', program], {
      encoding: 'utf8',
      cwd: fileURLToPath(new URL('.', import.meta.url)),
    });
    expect(stderr).toContain('needs Node.js 22.19 or newer, or a browser from 2024 on. This is Node.js 20.11.1');
  });

  it('of the command line', () => {
    const { stderr } = spawnSync(process.execPath, ['--import', old, PARLEY, 'version'], { encoding: 'utf8' });
    expect(stderr).toBe('parley needs Node.js 22.19 or newer; this is 20.11.1.\n');
  });
});
