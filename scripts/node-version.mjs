// Says in one sentence that Node.js is too old. npm runs it after `npm install`.
import { readFileSync, realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A sentence if a version of Node.js is older than `engines` allows; undefined if not. */
export function oldNodeSentence(version = process.versions.node) {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  const least = manifest.engines.node.replace('>=', '');
  const [major, minor] = version.split('.').map(Number);
  const [leastMajor, leastMinor] = least.split('.').map(Number);
  if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) return undefined;
  return `Parley needs Node.js ${least} or newer; this is ${version}.`;
}

/** The sentence of a script. Scripts start everything on the Node.js of the repository. */
export function scriptSentence(version) {
  const sentence = oldNodeSentence(version);
  return sentence && `${sentence} The commands of npm use the one in node_modules.\n`;
}

/** The sentence of vitest that a contributor starts without a script. */
export function vitestSentence(version) {
  const sentence = oldNodeSentence(version);
  return sentence && `${sentence} Run npm test -- FILE, which uses the one in node_modules.\n`;
}

/** Ends the process with a sentence if its Node.js is too old for TypeScript, which is imported after this call. */
export function refuseOldNode() {
  const sentence = oldNodeSentence();
  if (sentence === undefined) return;
  process.stdout.write(`${sentence} Use node_modules/.bin/node.\n`);
  process.exit(1);
}

const [, script] = process.argv;
if (script !== undefined && realpathSync(script) === fileURLToPath(import.meta.url)) {
  process.stdout.write(scriptSentence() ?? '');
}
