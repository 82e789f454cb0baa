import ts from 'typescript';
import { specifierOf } from './imports.js';
import type { SourceFile, SourceTree, Violation } from './source-tree.js';

/** Words of one room, and the only places that may use them. */
export interface WordRule {
  readonly name: string;
  readonly words: RegExp;
  /** Path prefixes. Empty: no place. */
  readonly rooms: readonly string[];
}

const METHODS_1_0 = [
  'SendMessage',
  'SendStreamingMessage',
  'GetTask',
  'ListTasks',
  'CancelTask',
  'SubscribeToTask',
  'CreateTaskPushNotificationConfig',
  'GetTaskPushNotificationConfig',
  'ListTaskPushNotificationConfigs',
  'DeleteTaskPushNotificationConfig',
  'GetExtendedAgentCard',
].join('|');

/** One row per vocabulary: its words, and the room that they belong to. */
export const WORDS: readonly WordRule[] = [
  { name: 'the JSON-RPC envelope', words: /(?<![/\w])jsonrpc\b(?!\/)/, rooms: ['bindings/jsonrpc/'] },
  { name: 'JSON-RPC error codes', words: /-3(?:14\d\d|2[067]\d\d)\b/, rooms: ['bindings/http/error-numbers.ts'] },
  { name: 'query parsing', words: /\bURLSearchParams\b/, rooms: ['bindings/http-json/', 'bindings/http/'] },
  {
    name: 'the HTTP status of an A2A error',
    words: /\b[A-Z]+(?:_[A-Z]+)+['"]?\s*:\s*(?:[[{][^\]}\n]*)?\b[45]\d\d\b/,
    rooms: ['bindings/http/error-numbers.ts'],
  },
  { name: 'the media type of streams', words: /text\/event-stream/, rooms: ['bindings/http/'] },
  {
    name: 'a body limit that is not called bodyBytes',
    words: /\b(?:max_?body|body_?limit)\w*/i,
    rooms: [],
  },
  { name: 'a bare parameter as the limit of a statement (see LIMIT)', words: /\bLIMIT \?(?! \+ 0)/, rooms: [] },
  { name: 'wire method names of 1.0', words: new RegExp(`['"\`](?:${METHODS_1_0})['"\`]`), rooms: ['codec/v1_0/'] },
  {
    name: 'routes of 1.0',
    words: /message:(?:send|stream)|:(?:cancel|subscribe)['"`]|['"`/]pushNotificationConfigs\b/,
    rooms: ['codec/v1_0/', 'codec/v0_3/'],
  },
  {
    name: 'wire method names and routes of 0.3',
    words: /message\/(?:send|stream)|tasks\/(?:get|cancel|resubscribe|pushNotificationConfig)/,
    rooms: ['codec/v0_3/'],
  },
  { name: 'members of 0.3', words: /\b(?:final|blocking)\??:|\.(?:final|blocking)\b/, rooms: ['codec/v0_3/'] },
  {
    name: 'the kinds of 0.3',
    words: /\bkind['"]?(?:\??:| ===| !==)\s*['"`](?:task|message|status-update|artifact-update|text|file|data)['"`]/,
    rooms: ['codec/v0_3/'],
  },
  {
    name: 'lower-case task states',
    words: /['"`](?:submitted|input-required|auth-required)['"`]/,
    rooms: ['codec/v0_3/'],
  },
  {
    name: 'SQL',
    words: /\b(?:SELECT|INSERT (?:OR \w+ )?INTO|DELETE FROM|CREATE (?:TABLE|INDEX|UNIQUE)|UPDATE \w+ SET|PRAGMA)\b/,
    rooms: ['store/sqlite/'],
  },
  {
    name: 'types of a host',
    words: /\b(?:IncomingMessage|ServerResponse|FastifyRequest|FastifyReply)\b/,
    rooms: ['adapters/'],
  },
  { name: 'authentication headers', words: /\b(?:authorization|www-authenticate)['"`]/i, rooms: ['auth/'] },
  {
    name: 'the process and its console',
    words: /\bprocess\.(?:env|exit|argv|stdout|stderr)\b|\bconsole\./,
    // Processes that run the program again get its arguments, and more variables.
    rooms: ['exports/worker-storage', 'exports/listen-workers.ts'],
  },
  {
    name: 'the clock',
    words: /\bDate\.now\b|\bnew Date\(\)|\bperformance\.now\b|\bhrtime\b/,
    rooms: ['exports/'],
  },
  { name: 'random ids', words: /\brandomUUID\b|\bMath\.random\b/, rooms: ['exports/'] },
  {
    name: 'timers',
    words: /(?<![.\w])(?:setTimeout|setInterval|setImmediate)\b|\bglobalThis\.set(?:Timeout|Interval|Immediate)\b/,
    // Waits for the end of the current read of a socket, not for a time.
    rooms: ['exports/', 'adapters/node/request-chunks.ts'],
  },
  { name: 'the global fetch', words: /(?<![.\w])fetch\(|\bglobalThis\.fetch\b/, rooms: ['exports/'] },
];

/** The words of a sink: text that others chose reaches a terminal or a log through it. */
const STREAMS = /\bprocess\.(?:stdout|stderr)\b|\bconsole\.|from 'node:console'/;

/** By folder: the files that may write to the streams of the process. All others write to an `Output` or a logger. */
export const SINKS: Readonly<Record<string, readonly WordRule[]>> = {
  'packages/conformance': [{ name: 'a stream of the process', words: STREAMS, rooms: [] }],
  'packages/durable-object': [{ name: 'a stream of the process', words: STREAMS, rooms: [] }],
  'packages/redis': [{ name: 'a stream of the process', words: STREAMS, rooms: [] }],
  'packages/postgres': [{ name: 'a stream of the process', words: STREAMS, rooms: [] }],
  'packages/cli': [
    {
      name: 'a stream of the process',
      words: STREAMS,
      rooms: [
        'src/run.ts',
        // A text logger, which cleans its lines.
        // Prompts of the tool.
        'src/serve/secret-input.ts',
        'src/chat/conversation.ts',
        'src/commands/db-owner.ts',
      ],
    },
  ],
};

/** Words outside of their rooms. Comments and import paths do not count. */
export function wordViolations(tree: SourceTree, rules = WORDS): Violation[] {
  return tree.shipped.flatMap((file) => {
    const lines = codeOf(file).split('\n');
    return rules
      .filter(({ rooms }) => !rooms.some((room) => file.path.startsWith(room)))
      .flatMap(({ name, words, rooms }) =>
        lines.flatMap((line, index) => {
          const hit = words.exec(line)?.[0];
          const owners = rooms.length === 0 ? 'no room of the library' : rooms.join(', ');
          const problem = `${name} (${hit}) belongs to ${owners}`;
          return hit === undefined ? [] : [{ file: file.path, line: index + 1, problem }];
        }),
      );
  });
}

/** Places that a rule allows and that use none of its words. */
export function staleAllowances(tree: SourceTree, rules = WORDS): string[] {
  const codes = tree.shipped.map((file) => ({ path: file.path, code: codeOf(file) }));
  return rules.flatMap(({ name, words, rooms }) =>
    rooms
      .filter((room) => !codes.some(({ path, code }) => path.startsWith(room) && words.test(code)))
      .map((room) => `${room} uses none of ${name}`),
  );
}

/** The text of a file with comments and module specifiers blanked out, line by line. */
export function codeOf(file: SourceFile): string {
  const kept: string[] = file.text.split('').map((char) => (char === '\n' ? '\n' : ' '));
  const keepTokens = (node: ts.Node): void => {
    if (specifierOf(node.parent ?? node) === node || ts.isJSDoc(node)) return;
    const children = node.getChildren(file.ast);
    for (const child of children) keepTokens(child);
    if (children.length > 0) return;
    for (let at = node.getStart(file.ast); at < node.end; at++) kept[at] = file.text[at] ?? ' ';
  };
  keepTokens(file.ast);
  return kept.join('');
}
