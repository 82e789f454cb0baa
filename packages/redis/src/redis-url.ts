/** A server in a Redis url, with its credentials. */
export interface RedisPlace {
  readonly host: string;
  readonly port: number;
}

/** The content of a Redis url. */
export interface RedisUrl {
  readonly tls: boolean;
  /** One server, or several nodes of a cluster or sentinels. */
  readonly places: readonly [RedisPlace, ...RedisPlace[]];
  readonly username?: string;
  readonly password?: string;
  /** Number of the database. */
  readonly database: number;
  readonly settings: ReadonlyMap<string, string>;
}

const URL_FORM = /^(rediss?):\/\/(?:([^@/?#]*)@)?([^@/?#]+)(?:\/(\d{0,4}))?(?:\?([^#]*))?$/;
const PLACE_FORM = /^(\[[\da-fA-F:.]+\]|[\w.-]+)(?::(\d{1,5}))?$/;

/**
 * Parses `redis://user:password@host:6379,host:6380/0?name=value`, also `rediss://`. Undefined if the text is no such
 * url.
 */
export function parseRedisUrl(text: string): RedisUrl | undefined {
  const [, scheme, credentials = '', hosts, database = '', query = ''] = URL_FORM.exec(text) ?? [];
  if (hosts === undefined) return undefined;
  const [first, ...others] = hosts.split(',').map(placeOf);
  const [name = '', ...secret] = credentials.split(':');
  const user = decodeText(name);
  const password = decodeText(secret.join(':'));
  const settings = settingsOf(query);
  if (first === undefined || user === undefined || password === undefined || settings === undefined) return undefined;
  const rest = others.filter((place) => place !== undefined);
  if (rest.length < others.length) return undefined;
  return {
    tls: scheme === 'rediss',
    places: [first, ...rest],
    ...(user !== '' && { username: user }),
    ...(password !== '' && { password }),
    database: Number(database),
    settings,
  };
}

/** Formats the servers of a url for display, without credentials. */
export function shownPlaces(places: readonly RedisPlace[]): string {
  return places.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`).join(',');
}

/** True if the server itself refused a command. A refusal shows that the server answers. */
export function isRefusal(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ReplyError';
}

function placeOf(text: string): RedisPlace | undefined {
  const [, host, digits = '6379'] = PLACE_FORM.exec(text) ?? [];
  const port = Number(digits);
  if (host === undefined || port < 1 || port > 65_535) return undefined;
  return { host: host.replace(/^\[|\]$/g, ''), port };
}

function settingsOf(query: string): ReadonlyMap<string, string> | undefined {
  const settings = new Map<string, string>();
  for (const pair of query === '' ? [] : query.split('&')) {
    const [, name, text = ''] = /^([^=]+)=(.*)$/s.exec(pair) ?? [];
    const value = decodeText(text);
    if (name === undefined || value === undefined || settings.has(name)) return undefined;
    settings.set(name, value);
  }
  return settings;
}

/** Decodes percent-encoding. Undefined if it is invalid. */
function decodeText(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
