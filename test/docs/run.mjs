// Runs the examples of the documents that are marked `js run` and `python run` against the example server. Compares
// their output with the documents. Without Python its examples are left out, unless CI is set. The last line is `N
// passed, N failed`.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { refuseOldNode } from '../../scripts/node-version.mjs';
import { ownNode, root, run } from '../../scripts/processes.mjs';
import { anyPython } from '../../scripts/python-environment.mjs';
import { countLine } from '../../scripts/suites.mjs';

refuseOldNode();
const { startExampleServer } = await import('../support/example-server.mjs');

/** Address of the server in the documents. */
const WRITTEN = 'http://127.0.0.1:8080';
const LIMIT_MS = 60_000;

const examples = readdirSync(join(root, 'docs'))
  .filter((name) => name.endsWith('.md'))
  .flatMap(examplesOf);
const commands = { js: [ownNode, 'mjs'], python: [await anyPython(), 'py'] };
const counts = { passed: 0, failed: 0 };
const folder = mkdtempSync(join(tmpdir(), 'parley-examples-'));
const server = await startExampleServer();
try {
  for (const example of examples) await play(example);
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
console.log(countLine(counts));
process.exit(counts.failed === 0 ? 0 : 1);

function examplesOf(document) {
  const text = readFileSync(join(root, 'docs', document), 'utf8');
  return Array.from(text.matchAll(/^```(js|python) run\n(.*?)^```$/gms), ({ 1: language, 2: code, index }) => ({
    place: `docs/${document}:${text.slice(0, index).split('\n').length}`,
    language,
    code,
    says: Array.from(code.matchAll(/^(?:\/\/|#) → (.*)$/gm), ([, line]) => line),
  }));
}

async function play({ place, language, code, says }) {
  const [command, ending] = commands[language];
  if (command === undefined) {
    const said = 'it is left out: there is no Python 3.10 or newer on the path; install python3 to run it.';
    console.log(`${process.env.CI ? 'FAILED ' : ''}${place}: ${said}`);
    if (process.env.CI) counts.failed++;
    return;
  }
  const file = join(folder, `example.${ending}`);
  writeFileSync(file, code.replaceAll(WRITTEN, server.url));
  const env = { PYTHONIOENCODING: 'utf-8', PYTHONDONTWRITEBYTECODE: '1' };
  const { code: exit, output } = await run(command, [file], { quiet: true, env, silenceMs: LIMIT_MS });
  const printed = output.trimEnd().split('\n');
  if (exit === 0 && printed.join('\n') === says.join('\n')) {
    counts.passed++;
    return;
  }
  counts.failed++;
  console.log(`FAILED ${place} does not do what it says. It ended with ${exit} and printed:\n${output}`);
}
