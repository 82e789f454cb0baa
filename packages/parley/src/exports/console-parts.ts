import { type ConsoleParts, type DirectConsoleOptions, directConsole } from '../app/console/console-extension.js';
import type { ConsolePackage } from '../app/console/console-files.js';
import type { Exchange } from '../bindings/http/exchange.js';
import type * as receiver from './push-receiver.js';

/**
 * A variable, so that bundlers leave the package out, and so that this package compiles before the console, which needs
 * its types.
 */
const CONSOLE_PACKAGE = 'parley-a2a-console';
const RECEIVER_MODULE = 'parley-a2a/push-receiver';

/** Loads an installed module. Bundlers of Workers refuse an `import` of a variable. */
async function load<Module>(name: string): Promise<Module> {
  const { createRequire } = process.getBuiltinModule('module');
  return createRequire(import.meta.url)(name) as Module;
}

const send = (url: string, init: RequestInit): Promise<Response> => fetch(url, init);

/** Loads the packages of the console of a host. */
export const consoleParts: ConsoleParts = {
  loadConsole: () =>
    load<ConsolePackage>(CONSOLE_PACKAGE).catch((cause: unknown) => {
      throw new Error(`The option console needs a package: npm install ${CONSOLE_PACKAGE}`, { cause });
    }),
  fetch: send,
  // The receiver fetches the keys of this server, which may be on a private address.
  loadReceiver: async () => {
    const { PushReceiver } = await load<typeof receiver>(RECEIVER_MODULE);
    const own = { plainHttp: true, fetch: send };
    return async ({ signature, ...options }) =>
      new PushReceiver({ ...options, ...(signature !== undefined && { signature: { ...signature, ...own } }) });
  },
};

/** The console of a handler, for requests without a proxy. */
export function consoleAt(options: Omit<DirectConsoleOptions, 'load'>): Exchange {
  return directConsole({ ...options, load: async () => consoleParts }).exchange;
}
