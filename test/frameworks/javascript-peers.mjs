// Peers in JavaScript. Those with packages of their own have a folder with a lock file; the official SDKs are packages
// of the repository.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ownNode, root } from '../../scripts/processes.mjs';
import { installedBeside } from '../../scripts/suite-packages.mjs';

const FOLDER = join(root, 'test/frameworks/javascript');

export const JAVASCRIPT_PEERS = [
  peer({
    name: 'google-adk-js',
    package: '@google/adk',
    version: '2.0.0',
    folder: 'google-adk',
    ways: ['session', 'agent-tool', 'serve'],
  }),
  peer({
    name: 'mastra',
    package: '@mastra/core',
    version: '1.71.0',
    ways: ['generate', 'stream', 'generate-1.0', 'stream-1.0', 'subagent', 'serve'],
    ci: true,
  }),
  peer({
    name: 'a2a-ai-provider',
    package: 'a2a-ai-provider',
    version: '0.5.0-alpha.1',
    ways: ['generateText', 'streamText'],
  }),
  peer({ name: 'a2a-js-sdk', package: '@a2a-js/sdk', version: '1.3.0', ways: ['sendMessage', 'sendMessageStream'] }),
  peer({
    name: 'a2a-js-sdk-0.3',
    package: '@a2a-js/sdk',
    version: '0.3.14',
    ways: ['sendMessage', 'sendMessageStream'],
  }),
];

function peer({ name, folder = name, ...rest }) {
  const place = join(FOLDER, folder);
  return {
    name,
    language: 'JavaScript',
    folder: place,
    ...rest,
    /** Resolves to the start of the driver, or to undefined if its packages cannot be had. */
    async prepare() {
      const own = existsSync(join(place, 'package.json'));
      const leftOut = `The cases of ${name} are`;
      if (own && !(await installedBeside(place, leftOut, { scripts: false }))) return undefined;
      return { command: ownNode, args: [join(place, 'driver.mjs')] };
    },
  };
}
