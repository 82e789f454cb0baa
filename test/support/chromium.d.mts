import type { Browser } from 'playwright-core';

/** A browser for tests. With `showsPdf` it is the usual Chromium, which needs five times the CPU time. */
export declare function launchChromium(options?: { readonly showsPdf?: boolean }): Promise<Browser>;
