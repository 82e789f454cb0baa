import { chromium } from 'playwright-core';

/** A browser for tests. With `showsPdf` it is the usual Chromium, which needs five times the CPU time. */
export function launchChromium({ showsPdf = false } = {}) {
  return chromium.launch({
    executablePath: showsPdf ? '/usr/bin/chromium' : '/usr/bin/chromium-headless-shell',
    // A sandbox needs rights that containers lack, whose shared memory is small too.
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
}
