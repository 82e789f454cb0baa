import type { ExchangeRequest } from './exchange.js';

/** A deviation of a client from the specification that the server supports. */
type ClientHabit =
  /** Shows an error before the first event of a stream only if it arrives as an event. */
  | 'errors as events'
  /** Drops an error of JSON-RPC before 1.0 whose `data` is an array. */
  | 'error data as object'
  /** Shows only the last update of a chunked artifact. */
  | 'whole ends';

interface KnownClient {
  readonly userAgent: RegExp;
  readonly habits: readonly ClientHabit[];
}

/** All clients with known deviations. */
const CLIENTS: Readonly<Record<string, KnownClient>> = {
  'the Go SDK': { userAgent: /^Go-http-client|a2a-go/, habits: ['errors as events', 'error data as object'] },
  // Google ADK, Strands, CrewAI, BeeAI and LangChain call through the Python SDK, which calls through httpx.
  'frameworks in Python': { userAgent: /^python-httpx\//, habits: ['whole ends'] },
};

const KNOWN = Object.values(CLIENTS);

/** True if the client of a request is known to have a habit. */
export function hasHabit(request: Pick<ExchangeRequest, 'header'>, habit: ClientHabit): boolean {
  const sent = request.header('user-agent');
  return sent !== undefined && KNOWN.some(({ userAgent, habits }) => habits.includes(habit) && userAgent.test(sent));
}
