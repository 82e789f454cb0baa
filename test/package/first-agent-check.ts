import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { firstMinutesBound } from '../support/first-minutes.js';
import { inProject, repository, suite } from './packed.js';

/** The blocks of a language in the section of the README that shows the first agent. */
function blocksOf(language: string): readonly string[] {
  const readme = readFileSync(join(repository, 'README.md'), 'utf8');
  const [, section = ''] = /^## Your first agent\n(.*?)^## /ms.exec(readme) ?? [];
  return Array.from(section.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms')), ([, block = '']) => block);
}

it("a project with the packed packages runs the README's first agent, word for word", async () => {
  const project = suite.commands;
  const { PATH, HOME } = process.env;
  const [agent = ''] = blocksOf('ts');
  const lines = agent.split('\n').filter((line) => line.trim() !== '');
  expect(lines.length).toBeLessThanOrEqual(firstMinutesBound('lines of the first agent in the README'));
  const [commands = ''] = blocksOf('sh');
  writeFileSync(join(project, 'agent.mjs'), agent);
  const [start = '', call = ''] = commands.split('\n').map((line) => line.replace(/\s+#.*/, ''));
  expect(start).toBe('node agent.mjs');

  // Port 8080 may be in use on the testing machine. The preloaded code replaces it by a free one.
  const ports = [
    "import { Server } from 'node:net';",
    'const { listen } = Server.prototype;',
    'const free = (given) => (given === 8080 ? 0 : given?.port === 8080 ? { ...given, port: 0 } : given);',
    'Server.prototype.listen = function (...given) { return listen.apply(this, given.map(free)); };',
  ];
  const preloaded = `data:text/javascript,${encodeURIComponent(ports.join('\n'))}`;
  const server = spawn(process.execPath, ['--import', preloaded, 'agent.mjs'], {
    cwd: project,
    env: { PATH, HOME },
    stdio: 'pipe',
  });
  try {
    const [first] = (await once(server.stdout, 'data')) as [Buffer];
    const [, url = ''] = /^Shouter listens on (http:\/\/127\.0\.0\.1:\d+)\n$/.exec(String(first)) ?? [];
    expect(call).toBe('npx parley send -a localhost:8080 "hello"');
    const { output } = await inProject('npx', ['parley', 'send', '-a', url, 'hello'], project);
    expect(output).toMatch(/State: COMPLETED\nArtifact: response\nText:\nHELLO \n/);
    expect(server.exitCode).toBe(null);
  } finally {
    const ended = once(server, 'exit');
    server.kill('SIGTERM');
    await ended;
  }
});
