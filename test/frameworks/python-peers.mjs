// Peers in Python. Each has a folder with its pinned packages and its driver.
import { join } from 'node:path';
import { root } from '../../scripts/processes.mjs';
import { anyPython, pythonWith } from '../../scripts/python-environment.mjs';

const FOLDER = join(root, 'test/frameworks/python');

export const PYTHON_PEERS = [
  peer({
    name: 'google-adk',
    package: 'google-adk',
    version: '2.13.0',
    ways: ['session', 'agent-tool', 'serve'],
    ci: true,
  }),
  peer({ name: 'fasta2a', package: 'fasta2a', version: '2.1.1', ways: ['serve'], ci: true }),
  peer({ name: 'strands', package: 'strands-agents', version: '1.62.0', ways: ['agent', 'serve'], ci: true }),
  peer({ name: 'crewai', package: 'crewai', version: '1.15.30', ways: ['streaming', 'polling'] }),
  peer({
    name: 'agent-framework',
    package: 'agent-framework-a2a',
    version: '1.0.0b261022',
    ways: ['run', 'stream', 'serve'],
  }),
  peer({ name: 'beeai', package: 'beeai-framework', version: '0.1.85', ways: ['agent', 'serve'] }),
  peer({
    name: 'langchain',
    package: 'a2a-langchain-adapters',
    version: '0.1.0',
    ways: ['invoke', 'stream'],
    least: 13,
  }),
  peer({ name: 'a2a-sdk', package: 'a2a-sdk', version: '1.3.0', ways: ['send', 'stream'] }),
  peer({ name: 'a2a-sdk-0.3', package: 'a2a-sdk', version: '0.3.26', ways: ['send', 'stream'] }),
];

function peer({ least, ...rest }) {
  const folder = join(FOLDER, rest.name);
  const leftOut = `The cases of ${rest.name} are`;
  return {
    ...rest,
    language: 'Python',
    ...(least !== undefined && { needs: `Python 3.${least} or newer` }),
    /** Resolves to the start of the driver, or to undefined if there is no Python for it. */
    async prepare() {
      if (least !== undefined && (await anyPython(least)) === undefined) {
        console.log(`${leftOut} left out: its packages need Python 3.${least}, and there is none on the path.`);
        return undefined;
      }
      const python = await pythonWith(join(folder, 'requirements.txt'), leftOut, { least });
      const env = { PYTHONPATH: FOLDER, PYTHONDONTWRITEBYTECODE: '1' };
      return python && { command: python, args: [join(folder, 'driver.py')], env };
    },
  };
}
