import { readFileSync } from 'node:fs';
import { PACKAGE_ROOT } from './package-root.js';

/** The version of this tool. */
export const VERSION: string = (
  JSON.parse(readFileSync(new URL('package.json', PACKAGE_ROOT), 'utf8')) as { version: string }
).version;

/** The version of the specification of command line clients that it follows. */
export const CLI_SPECIFICATION = '0.2';
