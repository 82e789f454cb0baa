const UNTRUSTED = 'no trusted authority has signed its certificate';
const NO_TLS = 'TLS is not spoken there; use http instead of https';
const SLOW = 'no connection came about in time';

/** The meaning of codes of Node.js and undici. */
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name of the host cannot be looked up now',
  ECONNRESET: 'the connection was reset',
  EHOSTUNREACH: 'the host cannot be reached from here',
  ENETUNREACH: 'the network cannot be reached from here',
  ETIMEDOUT: SLOW,
  UND_ERR_CONNECT_TIMEOUT: SLOW,
  UND_ERR_HEADERS_TIMEOUT: 'no answer came in time',
  UND_ERR_BODY_TIMEOUT: 'nothing came for too long',
  UND_ERR_SOCKET: 'the server closed the connection',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: NO_TLS,
};

/** The beginning of a TLS alert, as an HTTP parser reports it. */
const TLS_ALERT = '\x15\x03';

/** Codes of certificate errors, which mean that the server speaks TLS. */
const OF_CERTIFICATE = /^(?:CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERR_TLS_CERT)/;

/** The reason why there was no answer, for people. It contains the code, unless it is one of undici. */
export function reasonOf(error: Error): string {
  const { code, data } = error as { code?: unknown; data?: unknown };
  if (typeof data === 'string' && data.startsWith(TLS_ALERT)) return 'TLS is spoken there; use https instead of http';
  if (typeof code !== 'string') return error.message;
  const known = REASONS[code];
  if (code.startsWith('UND_ERR_')) return known ?? error.message;
  return known === undefined ? code : `${known} (${code})`;
}

/**
 * True if an http url must be called by https. The server closed the connection without a byte, and a second connection
 * shows that the port speaks TLS. That check sends no data of the caller.
 */
export async function wantsTls(url: string, { cause, request, signal }: UnansweredRequest): Promise<boolean> {
  const { socket } = (causeOf(cause) ?? {}) as { socket?: { bytesRead?: unknown } };
  if (!url.startsWith('http:') || socket?.bytesRead !== 0) return false;
  try {
    const { origin } = new URL(url.replace('http', 'https'));
    const response = await request(origin, { method: 'HEAD', redirect: 'manual', signal: signal ?? null });
    await response.body?.cancel();
    return true;
  } catch (refusal) {
    const { code } = (causeOf(refusal) ?? {}) as { code?: unknown };
    return typeof code === 'string' && OF_CERTIFICATE.test(code);
  }
}

/** A request that failed. */
interface UnansweredRequest {
  /** The error of the platform. */
  readonly cause: unknown;
  readonly signal: AbortSignal | undefined;
  readonly request: (url: string, init: RequestInit) => Promise<Response>;
}

function causeOf(error: unknown): unknown {
  return error instanceof Error ? error.cause : undefined;
}
