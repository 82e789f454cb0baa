import { type ConsoleParts, type DirectConsoleOptions, directConsole } from '../app/console/console-extension.js';
import type { Exchange } from '../bindings/http/exchange.js';
import { missingPackage } from '../errors/missing-package.js';
import type * as receiver from './push-receiver.js';

/** Names in variables: bundles leave both out. The console depends on the types of this package, and compiles later. */
const CONSOLE_PACKAGE: string = 'parley-a2a-console';
const RECEIVER_MODULE: string = 'parley-a2a/push-receiver';

const send = (url: string, init: RequestInit): Promise<Response> => fetch(url, init);

/** The packages of the console of a host. */
export const consoleParts: ConsoleParts = {
  loadConsole: () => import(CONSOLE_PACKAGE).catch(missingPackage('The option console needs', CONSOLE_PACKAGE)),
  fetch: send,
  // The webhooks read the keys of this server themselves, which may be on a private address.
  loadReceiver: async () => {
    const { PushReceiver } = (await import(RECEIVER_MODULE)) as typeof receiver;
    const own = { plainHttp: true, fetch: send };
    return async ({ signature, ...options }) =>
      new PushReceiver({ ...options, ...(signature !== undefined && { signature: { ...signature, ...own } }) });
  },
};

/** The console of a handler, for requests that came directly. */
export function consoleAt(options: Omit<DirectConsoleOptions, 'load'>): Exchange {
  return directConsole({ ...options, load: async () => consoleParts }).exchange;
}
