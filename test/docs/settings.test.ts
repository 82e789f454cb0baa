import { readFileSync } from 'node:fs';
import { nameSettings, SERVER_SETTINGS, type ServerSetting } from 'parley-a2a/server-settings';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FLAG_NAMES, SERVED_VARIABLES } from '../../packages/cli/src/command-line/flags.js';
import { helpText } from '../../packages/cli/src/command-line/help-text.js';
import { EXIT_CODES, LOCAL_CODES } from '../../packages/cli/src/failure/cli-error.js';
import { Settings } from '../../packages/cli/src/settings/settings.js';
import { GRPC_STATUS, type GrpcStatusName, grpcStatusOf } from '../../packages/grpc/src/binding/grpc-status.js';
import { agentSchemas, DEFAULT_VERSIONS } from '../../packages/parley/src/app/options/agent-options.js';
import { DEFAULT_CARD_AGE_SECONDS } from '../../packages/parley/src/app/options/host-options.js';
import { serverSchemas } from '../../packages/parley/src/app/options/server-options.js';
import { readServerConfig } from '../../packages/parley/src/app/server-config.js';
import { DEFAULT_HEARTBEAT_MS } from '../../packages/parley/src/bindings/http/binding-context.js';
import { DEFAULT_BODY_MEMORY } from '../../packages/parley/src/bindings/http/body-budget.js';
import { ERROR_STATUS } from '../../packages/parley/src/bindings/http/error-numbers.js';
import { ERROR_CODES } from '../../packages/parley/src/errors/a2a-error.js';
import { VERSION_WHEN_ABSENT } from '../../packages/parley/src/operations/versions.js';
import { REFERENCE_FILES, referenceFile, settingsTable } from '../../scripts/reference-tables.mjs';
import { CopiedTree } from '../support/copied-tree.js';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

describe('the reference', () => {
  it.each(REFERENCE_FILES)('%s is that of the code; if not: npm run reference', async (path) => {
    expect(await referenceFile(path)).toBe(read(path));
  });

  it('of errors names the codes whose body over HTTP+JSON has another status than gRPC', () => {
    const page = read('docs/errors.md');
    const other = ERROR_CODES.filter((code) => {
      const { name }: { readonly name: string } = ERROR_STATUS[code];
      return GRPC_STATUS[name as GrpcStatusName] !== grpcStatusOf(code, '1.0');
    });
    expect(other).toHaveLength(2);
    for (const code of other) expect(page).toContain(`\`${ERROR_STATUS[code].name}\` for \`${code}\``);
  });

  it('of the command line gives a meaning for each exit code of an error', () => {
    expect(Object.keys(EXIT_CODES)).toEqual(expect.arrayContaining(Object.values(LOCAL_CODES).map(String)));
  });
});

describe('the reference of settings and limits', () => {
  const page = read('docs/configuration.md');

  const rows: readonly ServerSetting[] = Object.values(SERVER_SETTINGS);
  const noFlags = new Settings([], []);
  const help = helpText(['serve'], noFlags);

  it.each(rows)('gives $variable once, with the default of the server and of the flag', (row) => {
    const { variable, flag, default: initial, form } = row;
    const isServed = SERVED_VARIABLES.some((name) => SERVER_SETTINGS[name].variable === variable);
    const served = isServed ? 'the variable' : '';
    const cells = new RegExp(`^\\| \`${variable}\` \\| (.+?) \\| .+ \\| (.*) \\|$`, 'gm');
    const shown = Array.from(page.matchAll(cells), ([, value, name]) => [value, name]);
    const value = initial === undefined ? expect.not.stringMatching(/^$/) : `\`${initial}\``;
    expect(shown).toEqual([[value, flag === undefined ? served : `\`--${flag}\``]]);
    const set = initial === undefined ? {} : { [variable]: initial };
    expect(readServerConfig(set)).toEqual(readServerConfig({}));
    if (flag === undefined) return;
    const line = help.split('\n').find((one) => one.trim().startsWith(`--${flag} `));
    expect(line).toBeDefined();
    const environment = { source: 'environment', values: { [variable]: 'true' } };
    const setting = FLAG_NAMES.find((name) => name === flag);
    expect(setting && new Settings([], [environment]).findSetting(setting)?.source).toBe('environment');
    if (initial !== undefined && form !== 'boolean') expect(line).toContain(`(default: ${initial})`);
  });

  it('has one variable and one flag for each setting', () => {
    for (const names of [rows.map(({ variable }) => variable), rows.flatMap(({ flag }) => flag ?? [])])
      expect(new Set(names).size).toBe(names.length);
  });

  it('names no setting in braces that does not exist', () => {
    const unknown = rows.flatMap(({ help: meaning, unset = '' }) => nameSettings(`${meaning} ${unset}`, () => ''));
    expect(unknown.filter((text) => /[{}]/.test(text))).toEqual([]);
  });
});

describe('a setting is added by the recipe: a member and a row', () => {
  const tree = new CopiedTree((path) => /^packages\/(parley|cli)\/(src|package\.json)/.test(path));
  afterAll(() => tree[Symbol.dispose]());
  const load = <Module>(path: string): Promise<Module> => import(tree.path(path));

  beforeAll(() => {
    const app = 'packages/parley/src/app';
    const member = '  readonly logLevel: LogLevel;';
    tree.edit(`${app}/server-settings.ts`, member, `  readonly greeting: readonly string[];\n${member}`);
    const row = `greeting: setting('A2A_GREETING', 'hosts', { repeats: true, default: 'all.example', flag: 'greeting',
      value: 'host', help: '[host](#hosts) to greet, not {publicUrl}' }),`;
    tree.edit(`${app}/server-settings.ts`, '  logLevel: setting(', `  ${row}\n  logLevel: setting(`);
    // Aliases of the tests lead to the sources of the repository.
    const flags = 'packages/cli/src/command-line/flags.ts';
    tree.edit(flags, "'parley-a2a/server-settings'", "'../../../parley/src/exports/server-settings.js'");
  });

  it('the variable is read, with its default, and its form is checked', async () => {
    const { readServerConfig: read } = await load<{ readServerConfig: typeof readServerConfig }>(
      'packages/parley/src/app/server-config.ts',
    );
    expect(read({})).toMatchObject({ greeting: ['all.example'] });
    expect(read({ A2A_GREETING: 'a.example, b.example' })).toMatchObject({
      greeting: ['a.example', 'b.example'],
      warnings: [],
    });
    const problem = 'A2A_GREETING="not a host" must be hosts such as agents.example.com, separated by commas';
    expect(() => read({ A2A_GREETING: 'not a host' })).toThrow(problem);
  });

  it('`parley serve` has the flag, `parley config show` the setting, and no untrusted file sets it', async () => {
    const { helpText: help } = await load<{ helpText: typeof helpText }>('packages/cli/src/command-line/help-text.ts');
    const { Settings: OwnSettings } = await load<{ Settings: typeof Settings }>(
      'packages/cli/src/settings/settings.ts',
    );
    const layers = [{ source: '/a/.env', values: { A2ACLI_GREETING: 'x.example' }, distrust: 'unknown' as const }];
    const settings = new OwnSettings([], layers);
    expect(help(['serve'], new OwnSettings([], []))).toMatch(
      /--greeting <host> +host to greet, not --public-url \(repeats\) \(default: all\.example\)\n/,
    );
    const greeting = 'greeting' as never;
    expect(settings.all().find(({ name }) => name === greeting)?.setting?.values).toEqual(['x.example']);
    expect(() => settings.list(greeting)).toThrow('is taken from trusted files only');
  });

  it('the reference has its row', async () => {
    const { SERVER_SETTINGS: settings } = await load<{ SERVER_SETTINGS: Readonly<Record<string, ServerSetting>> }>(
      'packages/parley/src/exports/server-settings.ts',
    );
    expect(settingsTable(settings, nameSettings)).toContain(
      '| `A2A_GREETING` | `all.example` | [host](#hosts) to greet, not `A2A_PUBLIC_URL` (separated by commas) | `--greeting` |',
    );
  });
});

describe('the reference of options', () => {
  const page = read('docs/configuration.md');
  const [, section = ''] = /\n## Options of a server\n(.*?)\n## /s.exec(page) ?? [];
  const defaults = new Map(
    Array.from(section.matchAll(/^\| `(\w+)` \| (.+?) \|/gm), ([, name = '', value = '']) => [name, value]),
  );

  it('gives every option of a server and of its agent, and no other', () => {
    const options = Object.keys({ ...agentSchemas, ...serverSchemas, path: {} });
    expect(options.filter((name) => !section.includes(`\`${name}\``))).toEqual([]);
    expect([...defaults.keys()].filter((name) => !options.includes(name))).toEqual([]);
  });

  it.each([
    ['streamHeartbeatMs', DEFAULT_HEARTBEAT_MS],
    ['bodyMemory', DEFAULT_BODY_MEMORY],
    ['cardMaxAgeSeconds', DEFAULT_CARD_AGE_SECONDS],
    ['versionWhenAbsent', VERSION_WHEN_ABSENT],
    ['versions', `['${DEFAULT_VERSIONS.join("', '")}']`],
  ])('gives %s with its default, %s', (name, value) => {
    expect(
      defaults
        .get(name)
        ?.replaceAll('`', '')
        .replace(/, as the .*/, ''),
    ).toBe(String(value));
  });
});
