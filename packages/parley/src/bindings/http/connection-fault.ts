/** The fault of a request that got no answer. */
interface ConnectionFault {
  /** For people, without addresses. */
  readonly reason: string;
  /** True if some of the request may have been sent. False only if the host says that there was no connection. */
  readonly sent: boolean;
}

/** Codes and messages of Node.js, Deno and Bun for a connection that was never made. */
const NO_CONNECTION =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_\w+|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT|ConnectionRefused|FailedToOpenSocket)$/;
const NO_CONNECTION_TEXT = /client error \(Connect\)/;
const CONNECTING: ReadonlySet<unknown> = new Set(['connect', 'getaddrinfo']);

/** Reads the fault from the error of a `fetch`. */
export async function connectionFault(error: unknown): Promise<ConnectionFault> {
  let reason = 'the connection failed';
  let sent = true;
  let depth = 0;
  for (let at: unknown = error; at instanceof Error && depth < 8 && sent; at = innerOf(at), depth++) {
    const { code, syscall } = at as { code?: unknown; syscall?: unknown };
    if (at.message !== '') reason = at.message;
    // Browsers have no codes, so they never load the explanations.
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
