/** What is done already. One promise for all, which nobody needs to watch. */
export const SETTLED: Promise<void> = Promise.resolve();
