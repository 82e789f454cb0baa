import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { TEMPLATE_NAMES } from '../../packages/cli/src/init/template-names.js';
import { inProject, repository, suite } from './packed.js';

/** Reads what a server prints until it tells its address. */
async function addressOf(server: ReturnType<typeof spawn>): Promise<string> {
  let text = '';
  for await (const piece of server.stdout ?? []) {
    text += String(piece);
    const [url] = /http:\/\/(?:127\.0\.0\.1|localhost):\d+[\w/]*/.exec(text) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error(`the server has ended: ${text}`);
}

it.each(TEMPLATE_NAMES)(
  'a project of the template %s installs, has the right types, passes its tests and answers',
  {
    timeout: 500_000,
  },
  async (template) => {
    const project = join(suite.project, '..', `template-${template}`);
    const parley = join(repository, 'packages/cli/bin/parley.js');
    const made = await inProject(process.execPath, [parley, 'init', project, '--template', template]);
    expect(made).toMatchObject({ code: 0 });
    const path = join(project, 'package.json');
    const manifest = JSON.parse(readFileSync(path, 'utf8')) as {
      scripts: Record<string, string>;
      dependencies: Record<string, string>;
    };
    manifest.dependencies['parley-a2a'] = `file:${suite.tarball}`;
    manifest.dependencies['parley-a2a-cli'] = `file:${suite.cliTarball}`;
    writeFileSync(path, JSON.stringify(manifest));
    const flags = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
    const npm = (...args: readonly string[]) => inProject('npm', args, project, 240_000);
    expect(await npm('install', ...flags)).toMatchObject({ code: 0 });
    expect(await npm('run', 'check')).toMatchObject({ code: 0 });
    const tested = await npm('test');
    expect(tested.output).toMatch(/^\S+ pass [1-9]\d*$/m);
    expect(tested.code).toBe(0);

    const [command = '', ...args] = (manifest.scripts.start ?? '').split(' ');
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
      const { output } = await inProject('npx', ['parley', 'send', '-a', url, 'hello'], project);
      expect(output).toMatch(/State: COMPLETED/);
    } finally {
      server.kill('SIGTERM');
      await ended;
    }
  },
);
