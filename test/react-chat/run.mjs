// Tests the example of a chat in React in a real browser. The last line is `N passed, N failed`. Without Chromium they
// are left out, unless CI is set.
import { build } from '../../scripts/build.mjs';
import { hasChromium } from '../../scripts/debian-package.mjs';
import { countLine, runVitest } from '../../scripts/suites.mjs';

const args = ['--config', 'test/react-chat/vitest.config.ts', ...process.argv.slice(2)];
await build(['packages/ai-sdk']);
const counts = (await hasChromium('The tests of the chat in a browser are'))
  ? await runVitest(args)
  : { passed: 0, failed: 0 };
process.stdout.write(`${countLine(counts)}\n`);
process.exit(counts.failed === 0 ? 0 : 1);
