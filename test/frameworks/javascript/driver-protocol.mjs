// Lines of JSON between the suite and a driver. Some frameworks print to the standard output. This module sends their
// prints to the standard error, so that they do not stand between the lines.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const writeOut = process.stdout.write.bind(process.stdout);
process.stdout.write = process.stderr.write.bind(process.stderr);

/** The version of a package that is installed in the folder of a driver, or above it. */
export function versionOf(name, driver) {
  for (let folder = new URL('.', driver); ; folder = new URL('..', folder)) {
    try {
      return JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, folder), 'utf8')).version;
    } catch (error) {
      if (error.code !== 'ENOENT' || folder.pathname === '/') throw error;
    }
  }
}

/**
 * Answers the requests on the standard input until it ends. `ways` has one function per way, from a request to its
 * result. `serve` starts the server of the framework and resolves to the url of its agent.
 */
export async function runDriver({ version, ways = {}, serve }) {
  const send = (value) => writeOut(`${JSON.stringify(value)}\n`);
  const resultOf = async (request) => {
    if (request.case === 'serve' && serve !== undefined) return { url: await serve() };
    if (!Object.hasOwn(ways, request.way)) throw new Error(`This driver has no way ${request.way}`);
    return ways[request.way](request);
  };
  const answer = async (line) => {
    const request = JSON.parse(line);
    try {
      send({ id: request.id, result: await resultOf(request) });
    } catch (error) {
      console.error(error);
      send({ id: request.id, error: messageOf(error) });
    }
  };

  // An error that a framework leaves unhandled must not end the cases after it.
  process.on('unhandledRejection', (error) => console.error('Unhandled:', error));
  const lines = createInterface({ input: process.stdin });
  lines.on('line', (line) => void answer(line));
  send({ ready: true, version });
  await once(lines, 'close');
  process.exit(0);
}

/** The text of a thrown value. */
export function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}
