import { readFileSync } from 'node:fs';
import { PACKAGE_ROOT } from './package-root.js';

const { version, engines } = JSON.parse(readFileSync(new URL('package.json', PACKAGE_ROOT), 'utf8')) as {
  readonly version: string;
  readonly engines: { readonly node: string };
};

/** The version of this tool. */
export const VERSION: string = version;

/** The versions of Node.js that the packages run on, as an npm range. */
export const NODE_RANGE: string = engines.node;

/** The supported version of the specification of A2A command lines. */
export const CLI_SPECIFICATION = '0.2';
