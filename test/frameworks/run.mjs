// Plays real frameworks against our agents, and our client against theirs. The play runs on the Node.js of the
// repository. The last line is `N passed, N failed`.
import { join } from 'node:path';
import { root, runOwn } from '../../scripts/processes.mjs';

const { code } = await runOwn([join(root, 'test/frameworks/play.mjs'), ...process.argv.slice(2)]);
process.exit(code);
