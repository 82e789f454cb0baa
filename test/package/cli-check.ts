import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inProject, suite, tarballOf } from './packed.js';

const place = suite.commands;
const tool = join(place, 'node_modules/.bin/parley');

describe('the command line', () => {
  it('holds what is needed and nothing else', () => {
    const listed = execFileSync('tar', ['-tzf', tarballOf('parley-a2a-cli')], { encoding: 'utf8' })
      .trim()
      .split('\n');
    const known =
      /^package\/(?:package\.json|LICENSE|README\.md|bin\/parley\.js|bundle\/[\w.-]+\.js|bundle\/errors\.json|bundle\/LICENSE\.typebox|skill\/(?:SKILL|references\/examples)\.md)$/;
    expect(listed.filter((file) => !known.test(file))).toEqual([]);
    expect(listed).toEqual(
      expect.arrayContaining(['package/bin/parley.js', 'package/bundle/run.js', 'package/skill/SKILL.md']),
    );
  });

  it('writes a project', async () => {
    expect((await inProject(tool, ['init', 'My Agent'], place)).output).toContain('cd "My Agent"\n  npm install\n');
    const { name, dependencies } = JSON.parse(readFileSync(join(place, 'My Agent/package.json'), 'utf8'));
    expect([name, dependencies]).toEqual(['my-agent', { 'parley-a2a': '^0.1.0' }]);
    expect((await inProject(tool, ['init', 'My Agent'], place)).output).toMatch(/already has .*package\.json/);
  });
});
