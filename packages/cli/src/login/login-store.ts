import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { OAuthEndpoints, TokenStore, Tokens } from 'parley-a2a/credentials';
import { globalFolder } from '../settings/settings-files.js';

/** The parameters of a login to an agent, without its secret. */
export interface Login {
  readonly flow: 'deviceCode' | 'clientCredentials';
  readonly scheme: string;
  readonly issuer: string;
  /** Absent if they come from discovery. */
  readonly endpoints?: OAuthEndpoints;
  /** Origins that may be private. Absent: the user has named the issuer. */
  readonly trustedOrigins?: readonly string[];
  readonly clientId: string;
  readonly scopes: readonly string[];
}

interface Entry extends Login {
  readonly tokens?: Tokens;
  /** Purpose of these tokens; absent in files of earlier versions. */
  readonly key?: string;
  /** Tokens with more scopes, by purpose. */
  readonly widened?: Readonly<Record<string, Tokens>>;
}

/** A login for display, without its tokens. */
export interface StoredLogin extends Login {
  /** The origin of the card. */
  readonly agent: string;
  /** False if the login was not completed. */
  readonly hasToken: boolean;
  /** Expiry of the token, in ms since the epoch. A token that can be refreshed is used longer. */
  readonly expiresAt?: number;
}

/** Logins by the origin of their card, in a file that only its owner can read. */
export class LoginStore {
  readonly path: string;

  constructor(env: Readonly<Record<string, string | undefined>> = process.env) {
    this.path = join(globalFolder(env), 'logins.json');
  }

  /** Returns the login for the agent of a card at this URL. */
  find(cardUrl: string): Login | undefined {
    return this.#read()[originOf(cardUrl)];
  }

  /** Returns all logins by the origin of their card, with the end of their token in ms since the epoch. */
  all(): readonly StoredLogin[] {
    return Object.entries(this.#read()).map(([agent, { tokens, key: _, widened: __, ...login }]) => ({
      agent,
      ...login,
      hasToken: tokens !== undefined,
      ...(tokens?.expiresAt !== undefined && { expiresAt: tokens.expiresAt }),
    }));
  }

  /** Returns the login for the agent of a card at this URL, if there is one. */
  of(cardUrl: string): readonly StoredLogin[] {
    return this.all().filter(({ agent }) => agent === originOf(cardUrl));
  }

  /** Removes the login for the agent of a card at this URL, with its tokens. Returns false if there is none. */
  remove(cardUrl: string): boolean {
    const { [originOf(cardUrl)]: found, ...others } = this.#read();
    if (found !== undefined) this.#write(others);
    return found !== undefined;
  }

  /** Stores a login without tokens. Replaces an earlier one. */
  keep(cardUrl: string, login: Login): void {
    this.#write({ ...this.#read(), [originOf(cardUrl)]: login });
  }

  /** Returns the store for the tokens of a login. The first key is that of the login; others are for more scopes. */
  tokensOf(cardUrl: string): TokenStore {
    const origin = originOf(cardUrl);
    let first: string | undefined;
    const isFirst = (key: string, login: Entry) => {
      first ??= login.key ?? key;
      return key === first;
    };
    return {
      load: async (key) => {
        const login = this.#read()[origin];
        return login === undefined || isFirst(key, login) ? login?.tokens : login.widened?.[key];
      },
      save: async (key, tokens) => {
        const all = this.#read();
        const login = all[origin];
        if (login === undefined) return;
        const saved = isFirst(key, login) ? { tokens, key } : { widened: { ...login.widened, [key]: tokens } };
        this.#write({ ...all, [origin]: { ...login, ...saved } });
      },
    };
  }

  #read(): Record<string, Entry> {
    try {
      return JSON.parse(readFileSync(this.path, 'utf8')) as Record<string, Entry>;
    } catch {
      return {};
    }
  }

  /** Writes the file atomically, because another command may read it at the same time. */
  #write(logins: Record<string, Entry>): void {
    mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
    const draft = `${this.path}.${process.pid}`;
    writeFileSync(draft, `${JSON.stringify(logins, undefined, 2)}\n`, { mode: 0o600 });
    renameSync(draft, this.path);
  }
}

/** Returns the origin of a URL. All loopback names have the same origin. */
function originOf(url: string): string {
  const { origin, protocol, hostname, port } = new URL(url);
  return /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname) ? `${protocol}//localhost:${port}` : origin;
}
