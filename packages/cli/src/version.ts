import { createRequire } from 'node:module';

/** The version of this tool. */
export const VERSION: string = createRequire(import.meta.url)('../package.json').version;

/** The version of the specification of command line clients that it follows. */
export const CLI_SPECIFICATION = '0.2';
