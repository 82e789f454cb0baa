// Runs the tests of the command line and writes docs/cli-compliance.yaml and .md from their results. The agent of the
// official Python SDK takes part if Python and its packages are available. Its environment is created under .cache/ the
// first time.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

// Node.js runs TypeScript without compiling it, so imports of `.js` must resolve to `.ts`.
registerHooks({ resolve: (path, context, next) => next(path.replace(/^(\..*)\.js$/, '$1.ts'), context) });
const { reportMarkdown, reportYaml } = await import('./report.ts');

const root = fileURLToPath(new URL('../../..', import.meta.url));
const requirements = join(root, 'test/cli/agents/requirements.txt');

makePythonAgent();
const folder = mkdtempSync(join(tmpdir(), 'parley-compliance-'));
try {
  const file = join(folder, 'report.json');
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const arguments_ = [vitest, 'run', 'test/cli/', '--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
  // Only the long form tests the agents on other SDKs.
  const env = { ...process.env, TEST_LONG: '1' };
  spawnSync(process.execPath, arguments_, { cwd: root, env, stdio: 'inherit' });
  const { testResults } = JSON.parse(readFileSync(file, 'utf8'));
  const tests = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map(({ fullName, status }) => ({
      title: fullName,
      file: relative(root, name),
      passed: status === 'passed',
    })),
  );
  const named = [...new Set(tests.flatMap(({ title }) => /^against '?([^' ]+)'?/.exec(title)?.[1] ?? []))];
  const input = {
    tests,
    version: JSON.parse(readFileSync(join(root, 'packages/cli/package.json'), 'utf8')).version,
    date: new Date().toISOString().slice(0, 10),
    agents: named.map((name) => `${name} ${versionOf(name)}`),
  };
  writeFileSync(join(root, 'docs/cli-compliance.yaml'), reportYaml(input));
  writeFileSync(join(root, 'docs/cli-compliance.md'), reportMarkdown(input));
  process.exitCode = tests.every(({ passed }) => passed) ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function versionOf(name) {
  if (name === 'a2a-sdk') return `${/a2a-sdk\S*==(\S+)/.exec(readFileSync(requirements, 'utf8'))?.[1]} (Python)`;
  const path = name === 'Parley' ? 'packages/parley' : `node_modules/${name}`;
  return JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8')).version;
}

function makePythonAgent() {
  const wanted = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 12);
  const place = join(root, `.cache/python-agent-${wanted}`);
  if (existsSync(join(place, 'complete'))) return;
  const made = spawnSync('python3', ['-m', 'venv', place]);
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', requirements];
  if (made.status === 0 && spawnSync(join(place, 'bin/python'), pip, { stdio: 'inherit' }).status === 0)
    writeFileSync(join(place, 'complete'), '');
  else process.stderr.write('Without the agent of the official Python SDK: its environment could not be made\n');
}
