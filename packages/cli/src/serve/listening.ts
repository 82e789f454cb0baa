import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FlagName } from '../command-line/flags.js';
import { CliError, usageError } from '../failure/cli-error.js';
import type { Output } from '../output/output.js';
import type { Settings } from '../settings/settings.js';

/** A server that can be closed. */
export interface Closable {
  close(): Promise<void>;
}

/** A listening server, for output. */
export interface ListeningAgent {
  readonly name: string;
  readonly url: string;
  readonly card: string;
  /** Binding, version and address of each interface that the public card does not list. */
  readonly unlisted?: readonly string[];
}

/** Prints the address of an agent to stdout, before anything else. */
export function tellListening(output: Output, { name, url, card, unlisted = [] }: ListeningAgent): void {
  if (output.json) output.line({ name, url, card, ...(unlisted.length > 0 && { unlisted }) });
  else {
    output.field('Agent', name);
    output.field('URL', url);
    output.field('Card', card);
    for (const one of unlisted) output.field('Unlisted', one);
  }
}

/** Prints the token of this launch for the operator API. It grants access to the tasks of all users. */
export function tellOperatorToken(output: Output, operator: { readonly url: string; readonly token: string }): void {
  if (output.json) output.line({ operator });
  else output.field('Operator token', operator.token);
}

/** Returns the log level of the flags. */
export function logLevelOf(settings: Settings): 'debug' | 'info' | 'error' {
  return settings.isOn('quiet') ? 'error' : settings.isOn('debug') ? 'debug' : 'info';
}

/** A process gets one Ctrl-C several times: from the terminal, and from npx and Node.js, which pass it on. */
const SAME_SIGNAL_MS = 500;

/**
 * Resolves when the server has closed after a signal. A second signal ends the process at once. Must be called before
 * the address is printed.
 */
export function untilStopped(server: Closable): Promise<void> {
  return new Promise((resolve, reject) => {
    let first: { readonly signal: NodeJS.Signals; readonly at: number } | undefined;
    const stop = (signal: NodeJS.Signals) => {
      const now = performance.now();
      if (first !== undefined && (first.signal !== signal || now - first.at > SAME_SIGNAL_MS)) process.exit(130);
      if (first !== undefined) return;
      first = { signal, at: now };
      server.close().then(resolve, reject);
    };
    process.on('SIGINT', stop);
    process.on('SIGTERM', stop);
  });
}

/** Parses the port of a flag. */
export function portOf(text: string | undefined, flag: FlagName = 'port'): number {
  const port = Number(text);
  if (text === undefined || !/^\d{1,5}$/.test(text) || port > 65_535)
    throw usageError(`--${flag} is 0 to 65535, not "${text}"`);
  return port;
}

/** The address that a server listens on. */
export interface ListenPlace {
  readonly port: number;
  readonly host: string;
}

/** Waits until a server listens. The error of a failed attempt contains the remedy. */
export async function untilListening<T>(starting: Promise<T>, { port, host }: ListenPlace): Promise<T> {
  try {
    return await starting;
  } catch (error) {
    const { code } = error as { readonly code?: unknown };
    const problem =
      code === 'EADDRINUSE'
        ? `port ${port} is taken`
        : code === 'EACCES'
          ? `port ${port} is not for this user`
          : code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND'
            ? `${host} is no address of this machine`
            : undefined;
    if (problem === undefined) throw error;
    throw new CliError('A2ACLI_ERR_INTERNAL', problem, {
      cause: error,
      hint: 'another --port or --host; --port 0 takes a free one',
    });
  }
}

/** A listening server. */
export interface StartedServer {
  /** Its address on this machine, without a final slash. */
  readonly url: string;
  /** Resolves like `untilStopped`. */
  readonly stopped: Promise<void>;
}

/** Starts a plain server of HTTP. After a signal, it closes all its connections. */
export async function startPlainServer(listener: RequestListener, place: ListenPlace): Promise<StartedServer> {
  const { port: wanted, host } = place;
  // A static import would load the HTTP client of Node.js, too.
  const server = process.getBuiltinModule('node:http').createServer(listener);
  server.listen(wanted, host);
  await untilListening(once(server, 'listening'), place);
  const stopped = untilStopped({
    close: async () => {
      server.close();
      server.closeAllConnections();
    },
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`, stopped };
}
