// Makes the tables of the documents that say what the code says, from the built code and its comments.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './processes.mjs';
import { commentsOf, optionOf } from './reference-comments.mjs';

const library = join(root, 'packages/parley');
const moduleOf = (file, folder = library) => import(`${folder}/dist/${file}.js`);
const sourceOf = (file, folder = library) => join(folder, 'src', `${file}.ts`);
const packageOf = (name) => join(root, 'packages', name);

/** Limits: the interface whose comments say what they mean, and the constant with their defaults. */
const LIMITS = {
  limits: [
    ['bindings/http/binding-context', 'RequestLimits', 'DEFAULT_REQUEST_LIMITS'],
    ['server/engine-limits', 'EngineLimits', 'DEFAULT_ENGINE_LIMITS'],
  ],
  concurrency: [['app/limits/concurrency', 'ConcurrencyLimits', 'DEFAULT_CONCURRENCY']],
  connections: [['app/options/server-options', 'HttpServerTimes', 'DEFAULT_HTTP_TIMES']],
};

/** The options of a server. Each comment has the tag of its default. */
const SERVER_OPTIONS = [
  ['app/options/agent-options', 'ServedAgentOptions'],
  ['app/options/host-options', 'MountOptions'],
  ['app/options/host-options', 'HostOptions'],
  ['app/options/server-options', 'ServerOptions'],
];

/** Tables of options: the page, the name of the table, and the package, the file and the interface of each part. */
const OPTIONS = {
  'docs/grpc.md': { options: ['grpc/server/grpc-options#GrpcBindingOptions'] },
  'docs/push.md': {
    options: ['parley/net/destinations#DestinationOptions', 'parley/app/options/push-options#PushOptions'],
  },
  'docs/mcp.md': {
    endpoint: ['mcp/mcp-server#McpServerOptions', 'mcp/mcp-endpoint#McpEndpointOptions'],
    tools: ['mcp/mcp-transport#McpCommand', 'mcp/mcp-transport#McpUrl', 'mcp/mcp-tools#McpToolsOptions'],
  },
  'docs/files.md': { limits: ['parley/app/files/files-extension#FileTransferOptions'] },
  'docs/push-receiver.md': { options: ['parley/push/receiver/push-receiver#PushReceiverOptions'] },
  'docs/signing.md': {
    messageSigning: ['signing/index#MessageSigningOptions', 'signing/index#KeySetOptions'],
    signedCalls: ['signing/index#SignedCallsOptions'],
  },
  'docs/storage.md': {
    postgres: ['postgres/postgres-options#PostgresOptions'],
    redis: ['redis/storage/redis-options#RedisOptions'],
  },
  'docs/client.md': {
    calls: ['parley/client/call-options#CallOptions'],
    grpcTransport: ['grpc/index#GrpcTransportOptions'],
    capnwebTransport: ['capnweb/capnweb-transport#CapnwebTransportOptions'],
    resume: ['parley/client/task-stream#ResumeOptions'],
  },
  'docs/audit-log.md': { file: ['parley/adapters/node/file-audit-log#FileAuditLogOptions'] },
  'docs/operator-api.md': { options: ['parley/app/operator/operator-extension#OperatorApiOptions'] },
  'docs/base-server.md': {
    options: ['parley/app/base-server/base-server-options#BaseServerOptions'],
    redis: ['redis/cache/redis-cache#OpenRedisCacheOptions'],
  },
  'docs/authentication.md': {
    apiKeys: ['parley/auth/schemes/api-keys#ApiKeysOptions'],
    keyTimes: ['parley/auth/tokens/token-options#KeyTimes'],
  },
  'docs/tools.md': { options: ['parley/tools/tool#ToolOptions'], limits: ['parley/tools/tool-execution#ToolLimits'] },
  'docs/ai-sdk.md': { chat: ['ai-sdk/chat-handler#A2AChatHandlerOptions'] },
  'docs/capnweb.md': {
    options: ['capnweb/index#CapnwebBindingOptions'],
    limits: ['capnweb/binding/session-limits#SessionLimits'],
  },
};

/** Members that the library fills in. */
const PORTS = ['clock', 'ids'];

const UNITS = { ms: 1, s: 1000, min: 60_000 };

/** The tables of each page by name. A table stands behind `<!-- npm run reference: name -->`. */
const PAGES = {
  'docs/configuration.md': async () => {
    const { nameSettings, SERVER_SETTINGS } = await moduleOf('app/server-settings');
    const { SERVED_VARIABLES } = await moduleOf('command-line/flags', packageOf('cli'));
    const tables = {
      settings: settingsTable(SERVER_SETTINGS, nameSettings, SERVED_VARIABLES),
      options: serverOptionsTable('docs/configuration.md'),
    };
    for (const [name, sources] of Object.entries(LIMITS)) tables[name] = await limitsTable(sources);
    return tables;
  },
  'docs/errors.md': async () => {
    const { errors, commandLine } = await errorRows();
    const own = ownErrorsAt(errors);
    return {
      protocol: errorsTable(errors.slice(0, own)),
      requests: errorsTable(errors.slice(own)),
      commandLine: tableOf(
        ['code', 'exit', 'when', 'what to do'],
        commandLine.map(({ code, exit, when, whatToDo }) => [`\`${code}\``, exit, when, whatToDo]),
      ),
    };
  },
  'docs/operations.md': async () => ({ metrics: await metricsTable(), alerts: alertsTable() }),
  'docs/cli-reference.md': async () => {
    const { COMMANDS, GLOBAL_FLAGS } = await moduleOf('command-line/commands', packageOf('cli'));
    const { FLAGS, SERVER_FLAG_NAMES } = await moduleOf('command-line/flags', packageOf('cli'));
    const { EXIT_CODES } = await moduleOf('failure/cli-error', packageOf('cli'));
    const { SETTING_ORIGINS } = await moduleOf('settings/setting-origins', packageOf('cli'));
    return {
      commands: commandsTable(COMMANDS, {
        agent: agentFlags(COMMANDS),
        server: SERVER_FLAG_NAMES,
        every: GLOBAL_FLAGS,
      }),
      flags: flagsTable(FLAGS, SETTING_ORIGINS),
      exits: tableOf(['exit', 'meaning'], Object.entries(EXIT_CODES)),
    };
  },
  ...Object.fromEntries(
    Object.entries(OPTIONS).map(([page, tables]) => [
      page,
      async () => Object.fromEntries(Object.entries(tables).map(([name, parts]) => [name, optionsTable(page, parts)])),
    ]),
  ),
  'docs/capnweb.md': async () => {
    const { errors } = await errorRows();
    const specified = errors.slice(0, ownErrorsAt(errors)).map((row) => [row.class, `\`${row.code}\``]);
    const { options, limits } = OPTIONS['docs/capnweb.md'];
    return {
      reasons: tableOf(['error of the specification', '`reason`'], specified),
      options: optionsTable('docs/capnweb.md', options),
      limits: optionsTable('docs/capnweb.md', limits),
    };
  },
};

/** The pages with such tables, and the reference of errors for programs. */
export const REFERENCE_FILES = [...Object.keys(PAGES), 'docs/errors.json'];

/** The content of such a file with what the code says now. */
export async function referenceFile(path) {
  if (path === 'docs/errors.json') return `${JSON.stringify(await errorRows(), null, 2)}\n`;
  const page = readFileSync(join(root, path), 'utf8');
  return Object.entries(await PAGES[path]()).reduce((text, [name, table]) => {
    const place = new RegExp(`(<!-- npm run reference: ${name} -->\n\n)(?:\\|.*\n)*`);
    if (!place.test(text)) throw new Error(`${path} has no place for ${name}`);
    return text.replace(place, (_, marker) => `${marker}${table}`);
  }, page);
}

/** The rows of settings. `served`: those without a flag that `parley serve` takes from the environment. */
export function settingsTable(settings, nameSettings, served = []) {
  const named = (text) => nameSettings(text, (name) => `\`${settings[name].variable}\``);
  const rows = Object.entries(settings).map(
    ([name, { variable, form, repeats, help, unset, flag, default: initial }]) => [
      `\`${variable}\``,
      initial === undefined ? named(unset ?? 'none') : `\`${initial}\``,
      `${form === 'boolean' ? '`true`: ' : ''}${named(help)}${repeats ? ' (separated by commas)' : ''}`,
      flag === undefined ? (served.includes(name) ? 'the variable' : '') : `\`--${flag}\``,
    ],
  );
  return tableOf(['variable', 'default', 'meaning', 'for `parley serve`'], rows);
}

/** The rows of options of a server. An option of an agent and of its host has the row of the agent. */
function serverOptionsTable(page) {
  const rows = new Map();
  for (const [file, type] of SERVER_OPTIONS)
    for (const { name, comment, tags } of commentsOf(sourceOf(file), type)) {
      if (tags.defaultValue === undefined) throw new Error(`${type}.${name} has no @defaultValue`);
      if (!rows.has(name)) rows.set(name, [`\`${name}\``, tags.defaultValue, withPage(page, comment, tags)]);
    }
  return tableOf(['option', 'default', 'meaning'], [...rows.values()]);
}

function optionsTable(page, parts) {
  const rows = parts.flatMap((part) => {
    const [place, type] = part.split('#');
    const [name, ...file] = place.split('/');
    const members = commentsOf(sourceOf(file.join('/'), packageOf(name)), type);
    return members
      .filter((member) => !PORTS.includes(member.name))
      .map((member) => {
        const { meaning, value = '' } = optionOf(member);
        if (meaning === undefined) throw new Error(`${type}.${member.name} has no comment`);
        return [`\`${member.name}\``, value, withPage(page, meaning, member.tags)];
      });
  });
  return tableOf(['option', 'default', 'meaning'], rows);
}

/** A meaning with a link from the page to that of its tag `@see`. */
function withPage(page, meaning, { see }) {
  const [file, anchor] = see?.split('#') ?? [];
  const target = see?.replace(file === page ? file : 'docs/', '');
  const label = (anchor ?? file?.replace(/^docs\/|\.md$/g, ''))?.replaceAll('-', ' ');
  return `${meaning.replace(/\.$/, '')}${see === undefined ? '' : ` ([${label}](${target}))`}`;
}

async function limitsTable(sources) {
  const rows = [];
  for (const [file, type, constant] of sources) {
    const { [constant]: defaults } = await moduleOf(file);
    for (const { name, comment } of commentsOf(sourceOf(file), type)) {
      const [sentence, count, unit] = / Default (\d+) (ms|s|min)\.$/.exec(comment) ?? [''];
      if (sentence !== '' && Number(count) * UNITS[unit] !== defaults[name])
        throw new Error(`${type}.${name} says${sentence} The default is ${defaults[name]}.`);
      rows.push([`\`${name}\``, defaults[name], comment.replace(sentence, '').replace(/\.$/, '')]);
    }
  }
  return tableOf(['limit', 'default', 'meaning'], rows);
}

/** The number of errors that the specification names. The others stand behind them. */
function ownErrorsAt(errors) {
  return errors.findIndex(({ code }) => code === 'PARSE_ERROR');
}

/** The errors of the protocol and of the command line, in the form of `docs/errors.json`. */
async function errorRows() {
  const { ERROR_NUMBERS, ERROR_STATUS } = await moduleOf('bindings/http/error-numbers');
  const { GRPC_STATUS, grpcStatusOf } = await moduleOf('binding/grpc-status', packageOf('grpc'));
  const { LOCAL_CODES } = await moduleOf('failure/cli-error', packageOf('cli'));
  const classes = ['errors/spec-errors', 'errors/standard-errors']
    .map((file) => readFileSync(sourceOf(file), 'utf8'))
    .join('');
  const explained = ({ name, comment, tags }) => {
    if (comment === undefined || tags.remedy === undefined) throw new Error(`${name} has no comment with @remedy`);
    const when = `${comment[0].toLowerCase()}${comment.slice(1).replace(/\.$/, '')}`;
    return { when, whatToDo: tags.remedy.replace(/\.$/, '') };
  };
  const errors = commentsOf(sourceOf('errors/a2a-error'), 'ERROR_CODES').map((row) => {
    const status = grpcStatusOf(row.name, '1.0');
    return {
      code: row.name,
      class:
        new RegExp(`class (\\w+) extends A2AError \\{(?:(?!class )[^])*?super\\('${row.name}'`).exec(classes)?.[1] ??
        'A2AError',
      jsonRpc: ERROR_NUMBERS[row.name],
      http: ERROR_STATUS[row.name].http,
      grpc: Object.keys(GRPC_STATUS).find((name) => GRPC_STATUS[name] === status),
      ...explained(row),
    };
  });
  const commandLine = commentsOf(sourceOf('failure/cli-error', packageOf('cli')), 'LOCAL_CODES').map((row) => ({
    code: row.name,
    exit: LOCAL_CODES[row.name],
    ...explained(row),
  }));
  return { errors, commandLine };
}

function errorsTable(rows) {
  return tableOf(
    ['code', 'class', 'JSON-RPC', 'HTTP', 'gRPC', 'when', 'what to do'],
    rows.map((row) => [
      ...[`\`${row.code}\``, `\`${row.class}\``, row.jsonRpc, row.http, `\`${row.grpc}\``],
      ...[row.when, row.whatToDo],
    ]),
  );
}

/** A metric of a client has no row: servers do not answer it. */
async function metricsTable() {
  const { METRICS } = await moduleOf('telemetry/metric-names');
  const rows = commentsOf(sourceOf('telemetry/metric-names'), 'METRICS').flatMap(({ name: key, comment, tags }) => {
    const { name, unit, description, advice } = METRICS[key];
    if (name.startsWith('a2a.client.')) return [];
    const kind = advice !== undefined ? ', histogram' : tags.counter !== undefined ? ', counter' : '';
    const meaning = [description, ...(comment ? [comment] : [])].join('. ').replace(/\.$/, '');
    const { attributes = '' } = tags;
    return [[`\`${name}\``, `${unit.replace(/^\{(.+)\}$/, '$1s')}${kind}`, attributes, meaning]];
  });
  return tableOf(['name', 'unit', 'attributes', 'meaning'], rows);
}

/** The rules for Prometheus, each with two annotations: the meaning of the alert, and the action. */
function alertsTable() {
  const rules = readFileSync(join(root, 'deploy/prometheus-rules.yaml'), 'utf8')
    .split(/^ *- alert: /m)
    .slice(1);
  const rows = rules.map((rule) => [
    `\`${rule.split('\n', 1)[0]}\``,
    ...['meaning', 'action'].map((name) => new RegExp(`^ *${name}: "(.+)"$`, 'm').exec(rule)?.[1] ?? ''),
  ]);
  return tableOf(['alert', 'meaning', 'what to do'], rows);
}

/** The flags that all commands on agents share: those of `task get` from the name of the agent on. */
function agentFlags(commands) {
  const { flags } = commands.find(({ path }) => path === 'task get');
  return flags.slice(flags.indexOf('agent-card'));
}

/** The rows of commands. A group of flags that a command has whole stands as its name. */
function commandsTable(commands, { every, ...groups }) {
  const cellOf = (flags) => {
    const whole = Object.entries(groups).filter(([, members]) => members.every((name) => flags.includes(name)));
    const own = flags.filter((name) => !whole.some(([, members]) => members.includes(name)));
    return [...own.map((name) => `\`--${name}\``), ...whole.map(([group]) => `*${group}*`)].join(', ');
  };
  const rows = commands.map(({ path, args, summary, aliases = [], flags, hasOwnFlags, notes }) => [
    `\`${[path, args].filter(Boolean).join(' ').replaceAll('|', '\\|')}\``,
    [summary, ...(notes === undefined ? [] : [escaped(notes)]), ...aliases.map((alias) => `Also \`${alias}\``)]
      .join('. ')
      .replaceAll('.. ', '. ')
      .replace(/\.$/, ''),
    hasOwnFlags ? '`--help` shows them' : cellOf(flags),
  ]);
  return tableOf(
    ['command', 'meaning', 'flags'],
    [
      ...rows,
      ['*agent*', 'a command that calls an agent', groups.agent.map((name) => `\`--${name}\``).join(', ')],
      ['*server*', 'settings of a server', 'those of [the environment](configuration.md#environment)'],
      ['*every*', 'every command', every.map((name) => `\`--${name}\``).join(', ')],
    ],
  );
}

/** A text in a cell of a table. */
function escaped(text) {
  return text.replaceAll('|', '\\|').replaceAll('<', '\\<');
}

/** Rows of flags. The last cell names the sources that may set a flag, if they are not all. */
function flagsTable(flags, origins) {
  const rows = Object.entries(flags).map(([name, { short, value, help, builtIn, repeats, aliases = [], ...flag }]) => [
    `${short === undefined ? '' : `\`-${short}\`, `}\`--${name}${value === undefined ? '' : ` <${value.replaceAll('|', '\\|')}>`}\``,
    builtIn === undefined ? '' : `\`${builtIn}\``,
    [`${escaped(help)}${repeats === true ? ' (repeats)' : ''}`, ...aliases.map((alias) => `also \`--${alias}\``)].join(
      '; ',
    ),
    flag.commonVariable === undefined ? '' : `\`${flag.commonVariable}\``,
    origins[name] === 'anywhere' ? '' : origins[name],
  ]);
  return tableOf(['flag', 'default', 'meaning', 'variable of a server', 'set by'], rows);
}

function tableOf(head, rows) {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}
