const scripts = new URL('.', import.meta.url);
/** The path of the console. Its scripts are in it, below the path at which a host has mounted it. */
export const CONSOLE_PATH = scripts.pathname.slice(0, -1);

const KEY = 'parley-console:launch';
const HEADER = 'parley-console-token';

/**
 * The token of a console that the command line has launched. It is in the fragment, which no server and no other page
 * gets, and is removed from the address at once. Absent: a server shows its own agents.
 */
const token = takeToken();

function takeToken(): string | null {
  const given = /^#token=([\w-]+)$/.exec(location.hash)?.[1];
  if (given === undefined) return sessionStorage.getItem(KEY);
  sessionStorage.setItem(KEY, given);
  history.replaceState(null, '', location.pathname);
  return given;
}

/** Sends a request to the server of this page, by the `fetch` of the browser if `send` names no other. */
export function fetchHere(
  url: string,
  init: RequestInit = {},
  send: (url: string, init: RequestInit) => Promise<Response> = fetch,
): Promise<Response> {
  const headers = new Headers(init.headers);
  if (token !== null && new URL(url, location.href).origin === location.origin) headers.set(HEADER, token);
  return send(url, { ...init, headers, credentials: 'same-origin' });
}
