import { AsyncLocalStorage } from 'node:async_hooks';
import type { Client } from 'parley-a2a/client';
import type { RequestCredentials } from 'parley-a2a/credentials';

/** The header with the credential of the page for the agent: its JSON, percent-encoded. */
const CREDENTIAL_HEADER = 'parley-console-credential';

/** Connects with a credential of the page. `undefined`: with the credentials of the tool. */
type ConnectAs = (credential: RequestCredentials | undefined) => Promise<Client>;

/** The credential of the current request. */
const credential = new AsyncLocalStorage<string>();

/** Runs a function whose calls use the credential of a request. */
export function forRequest<T>(request: Request, run: () => T): T {
  return credential.run(request.headers.get(CREDENTIAL_HEADER) ?? '', run);
}

/** One client for each credential that the page has sent. Credentials are in memory only. */
export class AgentClients {
  readonly #connectAs: ConnectAs;
  readonly #clients = new Map<string, Promise<Client>>();

  constructor(connectAs: ConnectAs) {
    this.#connectAs = connectAs;
  }

  /** The client for the current request. */
  readonly current = (): Promise<Client> => {
    const text = credential.getStore() ?? '';
    const known = this.#clients.get(text);
    if (known !== undefined) return known;
    const client = this.#connectAs(text === '' ? undefined : credentialIn(text));
    this.#clients.set(text, client);
    // A failed connection is not cached, so that the next call tries again.
    client.catch(() => this.#clients.delete(text));
    return client;
  };

  /** Ends all connections. */
  async close(): Promise<void> {
    for (const client of this.#clients.values()) (await client.catch(() => undefined))?.close();
  }
}

function credentialIn(text: string): RequestCredentials {
  const { headers = {}, query = {} } = JSON.parse(decodeURIComponent(text)) as RequestCredentials;
  return { headers: texts(headers), query: texts(query) };
}

function texts(values: object): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name.toLowerCase(), String(value)]));
}
