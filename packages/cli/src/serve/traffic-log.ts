import { appendFileSync } from 'node:fs';

/** One thing that passed through. */
export interface TrafficEntry {
  /** Number of the exchange, from 1. */
  readonly exchange: number;
  readonly what: 'request' | 'response' | 'event' | 'end' | 'error';
  /** `POST /a2a/jsonrpc`, `200 application/json`, … */
  readonly head: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Takes every entry as it happens. */
export type TrafficLog = (entry: TrafficEntry) => void;

const SECRET_HEADERS = /^(?:authorization|proxy-authorization|cookie|set-cookie)$|token|secret|api[-_]?key/i;

/** Headers as they may be shown. */
export function shownHeaders(headers: Iterable<readonly [string, string]>): Record<string, string> {
  return Object.fromEntries(
    Array.from(headers, ([name, value]) => [name, SECRET_HEADERS.test(name) ? '<redacted>' : value]),
  );
}

const ARROWS = { request: '→', response: '←', event: '·', end: '■', error: '✗' };

/** Lines for people. */
export function readableLog(write: (text: string) => void): TrafficLog {
  return ({ exchange, what, head, body }) => {
    write(`${ARROWS[what]} #${exchange} ${head}\n`);
    if (body !== undefined && body !== '') write(`    ${body.trimEnd().split('\n').join('\n    ')}\n`);
  };
}

/** One JSON object a line, appended to a file. */
export function fileLog(path: string, now: () => number): TrafficLog {
  return (entry) =>
    appendFileSync(path, `${JSON.stringify({ time: new Date(now()).toISOString(), ...entry })}\n`, { mode: 0o600 });
}
