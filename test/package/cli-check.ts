import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inProject, suite, tarballOf, usualTarballs } from './packed.js';

const place = join(suite.project, '..', 'initial');
const tool = join(place, 'node_modules/.bin/parley');
/** Installs like the suite, with the npm settings of the environment. */
function install(folder: string): void {
  const flags = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
  execFileSync('npm', ['install', ...usualTarballs, ...flags], {
    cwd: folder,
    stdio: 'pipe',
    timeout: 240_000,
  });
}

describe('the command line', () => {
  it('holds what is needed and nothing else', () => {
    const listed = execFileSync('tar', ['-tzf', tarballOf('parley-a2a-cli')], { encoding: 'utf8' })
      .trim()
      .split('\n');
    const known =
      /^package\/(?:package\.json|bin\/parley\.js|bundle\/[\w.-]+\.js|bundle\/errors\.json|skill\/(?:SKILL|references\/examples)\.md)$/;
    expect(listed.filter((file) => !known.test(file))).toEqual([]);
    expect(listed).toEqual(
      expect.arrayContaining(['package/bin/parley.js', 'package/bundle/run.js', 'package/skill/SKILL.md']),
    );
  });

  it('writes a project that installs, runs and answers', { timeout: 500_000 }, async () => {
    mkdirSync(place);
    writeFileSync(join(place, 'package.json'), '{ "private": true }\n');
    install(place);
    expect((await inProject(tool, ['init', 'My Agent'], place)).output).toContain(
      'Next: cd "My Agent" && npm install && npm start',
    );
    const project = join(place, 'My Agent');
    expect(readdirSync(project).sort()).toEqual([
      '.gitignore',
      'README.md',
      'agent.test.ts',
      'agent.ts',
      'package.json',
      'tsconfig.json',
    ]);
    expect((await inProject(tool, ['init', 'My Agent'], place)).output).toMatch(/already has .*package\.json/);
    install(project);

    const { PATH, HOME } = process.env;
    const started = spawn('npm', ['start', '--', '--port', '0'], {
      cwd: project,
      env: { PATH, HOME },
      detached: true,
      stdio: 'pipe',
    });
    try {
      let said = '';
      for await (const chunk of started.stdout) {
        said += String(chunk);
        if (/^Card: /m.test(said)) break;
      }
      const url = /^URL: (\S+)$/m.exec(said)?.[1] ?? said;
      const { output } = await inProject(
        join(project, 'node_modules/.bin/parley'),
        ['send', '-a', url, 'hello'],
        project,
      );
      expect(output).toMatch(/^Task: \S+\n[\s\S]*State: COMPLETED\nArtifact: response\nText:\nHELLO \n/m);
    } finally {
      const ended = once(started, 'exit');
      process.kill(-(started.pid ?? 0), 'SIGTERM');
      await ended;
    }
  });
});
