// Peers in Python. Each has a folder with its pinned packages and its driver.
import { join } from 'node:path';
import { root } from '../../scripts/processes.mjs';
import { pythonWith } from '../../scripts/python-environment.mjs';

const FOLDER = join(root, 'test/frameworks/python');

export const PYTHON_PEERS = [
  peer({ name: 'google-adk', package: 'google-adk', version: '2.13.0', ways: ['session', 'agent-tool', 'serve'], ci: true }),
];

function peer({ folder, ...rest }) {
  const place = join(FOLDER, folder ?? rest.name);
  return {
    ...rest,
    language: 'Python',
    /** Resolves to the start of the driver, or to undefined if there is no Python. */
    async prepare() {
      const python = await pythonWith(join(place, 'requirements.txt'), `The cases of ${rest.name} are`);
      return python && { command: python, args: [join(place, 'driver.py')], env: { PYTHONPATH: FOLDER, PYTHONDONTWRITEBYTECODE: '1' } };
    },
  };
}
