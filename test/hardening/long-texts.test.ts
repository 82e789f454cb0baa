import { describe, expect, it } from 'vitest';
import { parseCardReference } from '../../packages/cli/src/agent/card-reference.js';
import { writeCard } from '../../packages/cli/src/agent/card-text.js';
import { closest } from '../../packages/cli/src/command-line/closest.js';
import { parseCommandLine } from '../../packages/cli/src/command-line/parse.js';
import { messageParts } from '../../packages/cli/src/message/message-parts.js';
import { Output } from '../../packages/cli/src/output/output.js';
import { fileLine } from '../../packages/cli/src/output/part-text.js';
import { shownHeaders } from '../../packages/cli/src/output/shown-headers.js';
import { writeTask } from '../../packages/cli/src/output/task-text.js';
import { readableLog } from '../../packages/cli/src/serve/traffic-log.js';
import { durationOf } from '../../packages/cli/src/settings/settings.js';
import { safeName } from '../../packages/cli/src/task/saved-files.js';
import { shellWord } from '../../packages/cli/src/task/shell-word.js';
import { baseUrlOf } from '../../packages/parley/src/app/base-url.js';
import { corsSchema } from '../../packages/parley/src/app/middleware/cors-options.js';
import { readServerConfig } from '../../packages/parley/src/app/server-config.js';
import { receivedChallenges } from '../../packages/parley/src/auth/challenge.js';
import { EncodingChoice } from '../../packages/parley/src/bindings/http/accept-encoding.js';
import { askedVersion } from '../../packages/parley/src/bindings/http/call-context.js';
import { parseJson } from '../../packages/parley/src/bindings/http/json-body.js';
import { essence, names, preferredMediaType } from '../../packages/parley/src/bindings/http/media-type.js';
import { answeredError, bodyValue, strangeAnswer } from '../../packages/parley/src/bindings/http/received-answer.js';
import { queryMembers } from '../../packages/parley/src/bindings/http-json/request-value.js';
import { idOf } from '../../packages/parley/src/bindings/jsonrpc/jsonrpc-request.js';
import { globMatcher } from '../../packages/parley/src/cache/glob.js';
import { freshForMs } from '../../packages/parley/src/client/card-freshness.js';
import { CLIENT_VERSIONS, decodeAgentCard } from '../../packages/parley/src/codec/client-codecs.js';
import { PROTOCOL_VERSIONS } from '../../packages/parley/src/codec/protocol-versions.js';
import { toUtc } from '../../packages/parley/src/codec/v1_0/timestamp.js';
import type { AgentCard } from '../../packages/parley/src/model/agent-card.js';
import { isBase64 } from '../../packages/parley/src/model/base64.js';
import { closestName } from '../../packages/parley/src/model/closest-name.js';
import { passedBound } from '../../packages/parley/src/model/json-scan.js';
import { isTimestamp } from '../../packages/parley/src/model/timestamp.js';
import { isLoopback } from '../../packages/parley/src/net/loopback.js';
import { trustedProxies } from '../../packages/parley/src/net/trusted-proxy.js';
import { parseExtensions } from '../../packages/parley/src/operations/extensions.js';
import { chooseVersion, majorMinor } from '../../packages/parley/src/operations/versions.js';
import { isOption } from '../../packages/parley/src/options/check-options.js';
import { decodePageToken } from '../../packages/parley/src/server/page-token.js';
import { parseDatabaseUrl } from '../../packages/parley/src/store/database-url.js';
import { isSecretName, redactor, withoutSecrets } from '../../packages/parley/src/telemetry/redaction.js';
import { MemoryRequest } from '../../packages/parley/test/exchange-request.js';

type Reading = (text: string) => unknown;

const quiet = { write: () => true };
const output = new Output({ stdout: quiet, stderr: quiet, place: 'apart', colors: false }, { verbose: true });
const limits = { bodyBytes: 10_000_000, jsonDepth: 100, jsonItems: 100_000, parts: 1000, idLength: 1024 };
const header = (name: string, text: string) => new MemoryRequest({ headers: { [name]: text } });
const answerWithHeader = (name: string, text: string) => {
  const response = new Response('', { status: 503 });
  const headers = { get: (asked: string) => (asked === name ? text : null) };
  return Object.defineProperty(response, 'headers', { value: headers });
};
const LIST = { scope: { agent: 'a', tenant: '', owner: null }, request: {} };
const base = baseUrlOf({ isTrustedProxy: () => true });

/** A card with a share of the text in every place that takes one. */
function cardOf(whole: string): AgentCard {
  const text = shareOf(whole);
  return {
    name: text,
    description: text,
    version: text,
    supportedInterfaces: [{ url: text, protocolBinding: text, protocolVersion: text, tenant: text }],
    capabilities: { extensions: [{ uri: text, description: text }] },
    defaultInputModes: [text],
    defaultOutputModes: [text],
    skills: [{ id: text, name: text, description: text, tags: [text], examples: [text] }],
    provider: { organization: text, url: text },
    documentationUrl: text,
  };
}

/** A share for each place; the end of a text matters as much as its length. */
function shareOf(text: string): string {
  return text.slice(-Math.ceil(text.length / 16));
}

const messageOf = (text: string) => ({
  message: {
    messageId: text,
    contextId: text,
    role: 'ROLE_USER',
    kind: text,
    parts: [
      { text, kind: text },
      { raw: text, mediaType: text },
      { url: text, filename: text },
    ],
    extensions: [text],
    metadata: { [text]: text },
  },
  configuration: { acceptedOutputModes: [text], historyLength: text },
});

const PARSERS: Readonly<Record<string, Reading>> = {
  'a media type': essence,
  'the names of an Accept header': (text) => names(text, 'text/event-stream'),
  'the choice of an Accept header': (text) => preferredMediaType(text, ['application/json', 'application/a2a+json']),
  'an Accept-Encoding header': (text) => new EncodingChoice(['br', 'gzip']).of(text),
  'a list of extensions': parseExtensions,
  'a version in a header': (text) => askedVersion(header('a2a-version', text)),
  'a version in a query': (text) => askedVersion(new MemoryRequest({ url: `/?${text}` })),
  'the version asked for': (text) => chooseVersion(text, new Map([['1.0', PROTOCOL_VERSIONS['1.0'].jsonRpc]]), '0.3'),
  'a version': majorMinor,
  'a query': queryMembers,
  JSON: (text) => parseJson(text, limits),
  'the depth of JSON': (text) => passedBound(text, { depth: 100, items: 10 }),
  'the id of a request': (text) => idOf({ id: 2 ** 60 }, `{"${text}":1,"id":1152921504606846976}`, { idLength: 64 }),
  ...Object.fromEntries(
    Object.entries(PROTOCOL_VERSIONS).flatMap(([version, { jsonRpc, httpJson }]) => [
      [`a message of ${version}`, (text: string) => jsonRpc.decode('sendMessage', messageOf(shareOf(text)))],
      [
        `a message of ${version} over HTTP+JSON`,
        (text: string) => httpJson.decode('sendMessage', messageOf(shareOf(text))),
      ],
      [
        `the members of a query of ${version}`,
        (text: string) => httpJson.decode('listTasks', { pageSize: text }, 'text'),
      ],
    ]),
  ),
  base64: isBase64,
  'a timestamp': isTimestamp,
  'a timestamp with an offset': toUtc,
  'a timestamp that begins well': (text) => toUtc(`2026-01-01T00:00:00.${text}`),
  'a page token': (text) => decodePageToken(text, LIST),
  'X-Forwarded-Host': (text) => base(header('x-forwarded-host', text)),
  'X-Forwarded-Prefix': (text) =>
    base(new MemoryRequest({ headers: { 'x-forwarded-host': 'a', 'x-forwarded-prefix': text } })),
  Forwarded: (text) => base(header('forwarded', text)),
  'a peer': (text) => trustedProxies(['10.0.0.0/8'])(text),
  'a host': isLoopback,
  'a pattern of keys': (text) => globMatcher(text.slice(0, 1000))(text),
  'a key': globMatcher('*a*b?[c-d]*'),
  'a log line': withoutSecrets,
  'the name of a member': isSecretName,
  challenges: (text) => receivedChallenges({ get: () => text }),
  'the freshness of a card': (text) => freshForMs({ get: () => text }),
  'Retry-After': (text) =>
    answeredError(answerWithHeader('retry-after', text), { code: 'UNAVAILABLE', said: '', details: {} }),
  'a page for people': (text) => strangeAnswer(new Response(''), `<title>${text}`),
  'a text in the place of an answer': (text) => strangeAnswer(new Response(''), text),
  'an event stream in the place of an answer': (text) => bodyValue(`event: error\n${text}`),
  'an agent card': (text) => decodeAgentCard(cardOf(text)),
  'an agent card of 0.3': (text) => decodeAgentCard({ ...cardOf(text), supportedInterfaces: [], url: shareOf(text) }),
  'the url of a database': parseDatabaseUrl,
  'the public url of a server': (text) => readServerConfig({ A2A_PUBLIC_URL: `https://a.example/${text}` }),
  'the settings of a server': (text) => readServerConfig({ PORT: text, HOST: text, DATABASE_URL: text }),
  'an origin of pages': (text) => isOption(corsSchema, [text]),
  'a name that is near another': (text) => closestName(text, ['A2A_PUBLIC_URL']),
  'a word that is near another': (text) => closest(text, ['a2a-version', 'agent']),
  'an unknown flag': (text) => parseCommandLine([`--${text}`]),
  'the reference of an agent': (text) => parseCardReference(text),
  'a message': (text) => messageParts(text, []),
  'a duration': durationOf,
};

const PRINTERS: Readonly<Record<string, Reading>> = {
  'a field': (text) => output.field('Label', text),
  'a block': (text) => output.block('Label', text),
  'raw text': (text) => output.raw(text),
  'a note': (text) => output.note(text),
  'a card': (text) => writeCard(output, cardOf(text)),
  'a task': (whole) => {
    const text = shareOf(whole);
    writeTask(output, {
      id: text,
      contextId: text,
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ artifactId: text, name: text, parts: [{ text }, { data: text }, { url: text, filename: text }] }],
    });
  },
  'a file': (text) => fileLine({ raw: text, filename: text }),
  'a file name': safeName,
  'what goes over the wire without secrets': redactor([], new Set(['x-key'])),
  'a word for the shell': shellWord,
  'headers that passed a proxy': (text) => shownHeaders([[text, text]], (value) => value),
  'traffic that passed a proxy': (text) =>
    readableLog(() => {})({ exchange: 1, what: 'request', head: text, body: text }),
};

/** Each is repeated in front of something else: what a pattern with two quantifiers fails on at its end. */
const PIECES = [
  ...[
    '/',
    '\n',
    ' ',
    '\t \n',
    '\r\n',
    '?',
    '#',
    ';',
    ';q=',
    ',',
    ', ',
    '=',
    '"',
    '\\',
    '\\"',
    '-',
    '.',
    '..',
    '/.',
    '%',
    '%2f',
  ],
  ...[
    '[',
    '{"a":',
    '(',
    '<',
    '<title>',
    '*',
    '*?',
    '://',
    '//a@',
    'a:b@',
    '_',
    '-_',
    '0',
    '0.',
    '1s',
    '+',
    'a',
    'aB',
    '\u202e',
    '&a2a-version=',
  ],
  ...['Bearer ', 'scope=', 'token=', '世', '\0'],
];
/** The long form tries each piece alone as well. */
const ENDS = process.env.TEST_LONG === undefined ? ['\nx!'] : ['', '\nx!'];
const MB = 1_000_000;
const LIMIT_MS = 100;

function textOf(piece: string, length: number, end: string): string {
  return piece.repeat(Math.ceil(length / piece.length)).slice(0, length) + end;
}

/** Returns the CPU time of a reading in ms: the minimum of a few, because garbage collections slow some. */
async function timeOf(read: Reading, text: string): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 8 && best > LIMIT_MS; round++) {
    const begun = process.cpuUsage();
    try {
      await read(text);
    } catch {
      // A refusal is a valid result.
    }
    const { user, system } = process.cpuUsage(begun);
    best = Math.min(best, (user + system) / 1000);
  }
  return best;
}

/** The texts that take too long; shorter ones are tried first, so that a failure does not take minutes. */
async function slowTexts(read: Reading, limitMs = LIMIT_MS): Promise<string[]> {
  const slow: string[] = [];
  for (const piece of PIECES) {
    for (const end of ENDS) {
      for (const length of [MB / 10, MB]) {
        const ms = await timeOf(read, textOf(piece, length, end));
        if (ms <= limitMs) continue;
        slow.push(`${length} of ${JSON.stringify(piece)} before ${JSON.stringify(end)}: ${Math.round(ms)} ms`);
        break;
      }
    }
  }
  return slow;
}

describe('texts of 1 MB from outside', () => {
  it.each(Object.entries(PARSERS))('%s is read in 100 ms', { timeout: 120_000 }, async (_, read) => {
    expect(await slowTexts(read)).toEqual([]);
  });

  it.each(Object.entries(PRINTERS))('%s is printed in 400 ms', { timeout: 120_000 }, async (_, print) => {
    // An escape takes six times the place of what it shows.
    expect(await slowTexts(print, 4 * LIMIT_MS)).toEqual([]);
  });
});

describe('answers of agents', () => {
  it.each([...CLIENT_VERSIONS])('of %s are read in 100 ms', { timeout: 120_000 }, async (_, load) => {
    const { jsonRpc } = await load();
    const read = (text: string) => jsonRpc.decodeResponse('getTask', { id: text, kind: text, status: { state: text } });
    expect(await slowTexts(read)).toEqual([]);
  });
});
