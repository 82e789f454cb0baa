/** What is known of a request that got no answer. */
export interface ConnectionFault {
  /** For people, without addresses. */
  readonly reason: string;
  /** Whether some of the request may have been sent; false only where the host says that there was no connection. */
  readonly sent: boolean;
}

/** By these the hosts say that no connection came about: Node.js, Deno, Bun. */
const NO_CONNECTION =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_\w+|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT|ConnectionRefused|FailedToOpenSocket)$/;
const NO_CONNECTION_TEXT = /client error \(Connect\)/;
const CONNECTING: ReadonlySet<unknown> = new Set(['connect', 'getaddrinfo']);

/** Reads what a `fetch` was rejected with. */
export async function connectionFault(error: unknown): Promise<ConnectionFault> {
  let reason = 'the connection failed';
  let sent = true;
  let depth = 0;
  for (let at: unknown = error; at instanceof Error && depth < 8 && sent; at = innerOf(at), depth++) {
    const { code, syscall } = at as { code?: unknown; syscall?: unknown };
    if (at.message !== '') reason = at.message;
    // Browsers have no codes, and never load what explains them.
    if (typeof code === 'string' || at.name === 'HTTPParserError')
      reason = (await import('./connection-reasons.js')).reasonOf(at);
    const unconnected = typeof code === 'string' && NO_CONNECTION.test(code);
    sent = !unconnected && !CONNECTING.has(syscall) && !NO_CONNECTION_TEXT.test(at.message);
  }
  return { reason, sent };
}

function innerOf(error: Error): unknown {
  return error.cause ?? (error as { errors?: readonly unknown[] }).errors?.[0];
}
