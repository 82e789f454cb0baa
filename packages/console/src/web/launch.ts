const KEY = 'parley-console:launch';
const HEADER = 'parley-console-token';

/**
 * The token of a console that the command line has launched. It comes in the fragment, which no server and no other
 * page gets, and goes out of the address at once. Absent: a server shows its own agents.
 */
const token = takeToken();

function takeToken(): string | null {
  const given = /^#token=([\w-]+)$/.exec(location.hash)?.[1];
  if (given === undefined) return sessionStorage.getItem(KEY);
  sessionStorage.setItem(KEY, given);
  history.replaceState(null, '', location.pathname);
  return given;
}

/** The `fetch` of the browser for the server of this page. It takes no other url. */
export function fetchHere(url: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  if (token !== null && new URL(url, location.href).origin === location.origin) headers.set(HEADER, token);
  return fetch(url, { ...init, headers, credentials: 'same-origin' });
}
