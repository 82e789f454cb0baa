import type { Random } from '../../../packages/parley/test/random.js';

const JUNK: readonly unknown[] = [
  '',
  'text',
  '\ud800',
  '\0',
  'a\r\nb',
  '__proto__',
  'ROLE_USER',
  'TASK_STATE_WORKING',
  '2026-01-31T12:00:00Z',
  'AAAA',
  '-1',
  '5',
  '../..',
  0,
  -1,
  1,
  2.5,
  100,
  101,
  2147483648,
  1e21,
  1e308,
  null,
  true,
  false,
  [],
  {},
  [[]],
  [null],
  [{}],
  { text: 1 },
  { length: 3 },
  'x'.repeat(70_000),
  Array.from({ length: 1_200 }, () => ({ text: '' })),
  Array.from({ length: 60 }, () => 5),
];
const NAMES = [
  '__proto__',
  'constructor',
  'toString',
  'id',
  'task_id',
  'kind',
  'tenant',
  'parts',
  'text',
  'raw',
  'data',
  'metadata',
  'ä',
  '\ud800',
  '',
  'a.b',
];
const PIECES = [
  '\0',
  '\r\n',
  '\n',
  '"',
  '\\',
  '\\u',
  '\\ud800',
  '{',
  '[',
  ']',
  '}',
  ',',
  ':',
  'null',
  '1e999',
  '-',
  '\ufeff',
  '[['.repeat(80),
  '\xff',
  '\xc3\x28',
  '\xed\xa0\x80',
];
const VALUES = [
  '',
  ',',
  ';',
  'x',
  '1.0',
  '0.3',
  '9.9',
  '1.0, 0.3',
  'application/json',
  'application/a2a+json',
  'text/plain',
  'text/event-stream',
  'gzip',
  'identity',
  'chunked',
  '100-continue',
  'close',
  'keep-alive',
  'upgrade',
  'h2c',
  '0',
  '-1',
  '1',
  '99999999999',
  'urn:a, urn:b',
  '%0d%0a',
  '\xff',
  'a\tb',
  'Bearer x',
  'x'.repeat(9_000),
];
const HEADERS = [
  'content-type',
  'content-encoding',
  'content-length',
  'transfer-encoding',
  'accept',
  'a2a-version',
  'a2a-extensions',
  'x-a2a-extensions',
  'last-event-id',
  'traceparent',
  'host',
  'connection',
  'upgrade',
  'expect',
  'authorization',
  'forwarded',
  'x-forwarded-host',
  'range',
  'if-none-match',
  'te',
  'trailer',
  'cookie',
];
const SEGMENTS = [
  '..',
  '.',
  '',
  '%2e%2e',
  '%2f',
  '%00',
  '%ff',
  '%zz',
  '%',
  '%0d%0aset-cookie:%20a=b',
  ':cancel',
  ':subscribe',
  'tasks',
  'message:send',
  'message%3Asend',
  'acme',
  '__proto__',
  'a'.repeat(3_000),
  '?',
  '?pageSize=1',
  '?tenant=a&tenant=b',
  '?%',
  '?__proto__=1',
  '?a&'.repeat(500),
  '#',
  '//',
];

/** The value with something changed somewhere inside. */
export function mutatedValue(random: Random, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || random.oneIn(6)) return random.pick(JUNK);
  const entries: [string, unknown][] = Object.entries(value);
  const at = random.below(entries.length);
  const entry = entries[at];
  const kind = random.below(8);
  if (entry === undefined || kind < 2) entries.push([random.pick(NAMES), random.pick(JUNK)]);
  else if (kind === 2) entries.splice(at, 1);
  else if (kind === 3) entries[at] = [random.pick(NAMES), entry[1]];
  else entries[at] = [entry[0], mutatedValue(random, entry[1])];
  return Array.isArray(value) ? entries.map(([, item]) => item) : Object.fromEntries(entries);
}

/** The bytes with pieces cut out, doubled, flipped or put in. */
export function mutatedBytes(random: Random, bytes: Buffer): Buffer {
  const at = random.below(bytes.length + 1);
  const to = Math.min(bytes.length, at + random.below(random.pick([2, 8, 200])));
  const [head, middle, tail] = [bytes.subarray(0, at), bytes.subarray(at, to), bytes.subarray(to)];
  switch (random.below(6)) {
    case 0:
      return Buffer.concat([head, tail]);
    case 1:
      return Buffer.concat([head, middle, middle, tail]);
    case 2:
      return Buffer.concat([head, Buffer.from(random.pick(PIECES), 'latin1'), tail]);
    case 3:
      return Buffer.concat([head, random.bytes(middle.length), tail]);
    case 4:
      return head;
    default:
      return Buffer.concat([head, Buffer.from(middle.map((byte) => byte ^ (1 << random.below(8)))), tail]);
  }
}

/** The header lines with one added, doubled, taken out or with another value. */
export function mutatedHeaders(random: Random, lines: readonly string[]): readonly string[] {
  const at = random.below(lines.length);
  const made = `${random.pick(HEADERS)}: ${random.pick(VALUES)}`;
  const changed = [...lines];
  const kind = random.below(4);
  if (kind === 0) changed.splice(at, 1);
  else if (kind === 1) changed.splice(at, 0, lines[at] ?? made);
  else changed.push(made);
  return changed;
}

/** The target with a segment changed or added. */
export function mutatedTarget(random: Random, target: string): string {
  const segments = target.split('/');
  const at = 1 + random.below(segments.length);
  segments.splice(at, random.below(2), random.pick(SEGMENTS));
  const changed = segments.join('/');
  return random.oneIn(8) ? `http://other.example${changed}` : changed;
}

/** The body in chunks of random sizes; now and then with extensions, or not quite right. */
export function encodeChunked(random: Random, body: Buffer): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; at < body.length; ) {
    const chunk = body.subarray(at, at + 1 + random.below(random.pick([3, 100, 100_000])));
    const size = random.oneIn(200) ? chunk.length + 1 : chunk.length;
    const extension = random.oneIn(20) ? `;a="${'x'.repeat(random.below(50))}"` : '';
    pieces.push(Buffer.from(`${size.toString(16)}${extension}\r\n`), chunk, Buffer.from('\r\n'));
    at += chunk.length;
  }
  return Buffer.concat([...pieces, Buffer.from(random.oneIn(20) ? '0\r\nx-trailer: 1\r\n\r\n' : '0\r\n\r\n')]);
}
