import { appendFileSync } from 'node:fs';
import { printableText } from 'parley-a2a';
import { redactor } from 'parley-a2a/credentials';
import { shownHeaders } from '../output/shown-headers.js';

/** A logged part of an exchange. */
interface TrafficEntry {
  /** Number of the exchange, from 1. */
  readonly exchange: number;
  readonly what: 'request' | 'response' | 'event' | 'end' | 'error';
  /** `POST /a2a/jsonrpc`, `200 application/json`, … */
  readonly head: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Called with each entry as it happens. */
export type TrafficLog = (entry: TrafficEntry) => void;

/** Makes a log without credentials. `secretNames`: names in addition to the usual secret ones; the set may grow. */
export function redactedLog(log: TrafficLog, secretNames: ReadonlySet<string>): TrafficLog {
  return ({ head, headers, body, ...entry }) => {
    const shown = redactor([], secretNames);
    const named = Object.entries(headers ?? {}).map(
      ([name, value]) => [name, secretNames.has(name) ? '<redacted>' : value] as const,
    );
    log({
      ...entry,
      head: shown(head),
      ...(headers !== undefined && { headers: shownHeaders(named, shown) }),
      ...(body !== undefined && { body: shown(body) }),
    });
  };
}

const ARROWS = { request: '→', response: '←', event: '·', end: '■', error: '✗' };

/** Makes a log for people. `write` is called with each line. */
export function readableLog(write: (line: string) => void): TrafficLog {
  return ({ exchange, what, head, body }) => {
    write(`${ARROWS[what]} #${exchange} ${head}`);
    for (const line of body?.trimEnd().split('\n') ?? []) if (line !== '') write(`    ${line}`);
  };
}

/** Makes a log that appends one JSON object per line to a file. */
export function fileLog(path: string, now: () => number): TrafficLog {
  return (entry) =>
    appendFileSync(path, `${printableText(JSON.stringify({ time: new Date(now()).toISOString(), ...entry }))}\n`, {
      mode: 0o600,
    });
}
