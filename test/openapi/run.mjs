// Judges the description of the example server with tools from PyPI. Validators check both documents, and schemathesis
// calls the described operations. Usage: `node test/openapi/run.mjs`. The last line is `N passed, N failed`. The long
// form calls all agents, with another seed each time.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { refuseOldNode } from '../../scripts/node-version.mjs';
import { root, run } from '../../scripts/processes.mjs';
import { pythonWith } from '../../scripts/python-environment.mjs';
import { countJunit, countLine, sum } from '../../scripts/suites.mjs';

refuseOldNode();
const { plantSecret } = await import('../../packages/parley/test/planted-secrets.ts');
const { startExampleServer } = await import('../support/example-server.mjs');

const folder = join(root, 'test/openapi');
const long = process.env.TEST_LONG !== undefined;
const seed = long ? Date.now() % 1_000_000 : 1;
/**
 * The compliance agent works on every message for a while. The other agents answer at once and speak the same versions.
 */
const SLOW = ['--exclude-path-regex', '^/(a2a/|tck(/|$)|$)'];
const CASES = long ? ['--max-examples', '50'] : ['--max-examples', '2', '--max-time', '45', ...SLOW];

const python = await pythonWith(join(folder, 'requirements.txt'), 'The tests of test/openapi by tools from PyPI are');
const counts = python === undefined ? { passed: 0, failed: 0 } : await judge(python);
console.log(countLine(counts));
process.exit(counts.failed === 0 ? 0 : 1);

async function judge(python) {
  const temporary = await mkdtemp(join(tmpdir(), 'parley-openapi-'));
  const server = await startExampleServer();
  try {
    const results = [];
    for (const name of ['openapi.json', 'openapi-3.0.json']) {
      const file = join(temporary, name);
      await writeFile(file, await (await fetch(`${server.url}/${name}`)).text());
      const { code } = await run(python, ['-m', 'openapi_spec_validator', file]);
      const failures = code === 0 ? [] : [`FAILED test/openapi > ${name}: openapi_spec_validator ended with ${code}`];
      results.push({ passed: 1 - failures.length, failed: failures.length, failures });
    }
    results.push(await schemathesis({ python, url: server.url, report: join(temporary, 'report.xml') }));
    for (const line of results.flatMap(({ failures }) => failures)) console.log(line);
    return sum(results);
  } finally {
    await server.stop();
    rmSync(temporary, { recursive: true, force: true });
  }
}

async function schemathesis({ python, url, report }) {
  const args = [
    ...['--config-file', join(folder, 'schemathesis.toml'), 'run', `${url}/openapi.json`, '--url', url, '--no-color'],
    ...['--seed', String(seed), '--phases', 'coverage,fuzzing', '--continue-on-failure'],
    // The credential for the extended card. Without it all answers would be refusals.
    ...['--header', 'Authorization: Bearer acceptance-token'],
    ...['--header', `X-API-Key: ${plantSecret('header')}`, '--header', `Cookie: session=${plantSecret('cookie')}`],
    ...['--report', 'junit', '--report-junit-path', report, ...CASES],
  ];
  const { code } = await run(join(dirname(python), 'schemathesis'), args, {
    env: { PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: '1' },
  });
  return countJunit('test/openapi', existsSync(report) ? readFileSync(report, 'utf8') : '', code);
}
