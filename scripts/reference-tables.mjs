// Makes the tables of docs/configuration.md from the built settings and limits of the library.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { root } from './processes.mjs';

const library = join(root, 'packages/parley');
const moduleOf = (file) => import(`${library}/dist/${file}.js`);

/** The page with the tables. */
export const PAGE = join(root, 'docs/configuration.md');

/** Limits: the interface whose comments say what they mean, and the constant with their defaults. */
const LIMITS = {
  limits: [
    ['bindings/http/binding-context', 'RequestLimits', 'DEFAULT_REQUEST_LIMITS'],
    ['server/engine-limits', 'EngineLimits', 'DEFAULT_ENGINE_LIMITS'],
  ],
  concurrency: [['app/limits/concurrency', 'ConcurrencyLimits', 'DEFAULT_CONCURRENCY']],
  connections: [['app/options/server-options', 'HttpServerTimes', 'DEFAULT_HTTP_TIMES']],
};

/** The options of a server: the interfaces whose comments give meaning, default and page. */
const OPTIONS = [
  ['app/options/agent-options', 'ServedAgentOptions'],
  ['app/options/host-options', 'MountOptions'],
  ['app/options/host-options', 'HostOptions'],
  ['app/options/server-options', 'ServerOptions'],
];

const UNITS = { ms: 1, s: 1000, min: 60_000 };

/** A page whose tables are those of the code. A table stands behind `<!-- npm run reference: name -->`. */
export async function withTables(page) {
  const { nameSettings, SERVER_SETTINGS } = await moduleOf('app/server-settings');
  const tables = { settings: settingsTable(SERVER_SETTINGS, nameSettings), options: optionsTable() };
  for (const [name, sources] of Object.entries(LIMITS)) tables[name] = await limitsTable(sources);
  return Object.entries(tables).reduce((text, [name, table]) => {
    const place = new RegExp(`(<!-- npm run reference: ${name} -->\n\n)(?:\\|.*\n)*`);
    if (!place.test(text)) throw new Error(`docs/configuration.md has no place for ${name}`);
    return text.replace(place, (_, marker) => `${marker}${table}`);
  }, page);
}

/** The rows of settings. A row without a flag has an empty cell. */
export function settingsTable(settings, nameSettings) {
  const named = (text) => nameSettings(text, (name) => `\`${settings[name].variable}\``);
  const rows = Object.values(settings).map(({ variable, form, repeats, help, unset, flag, default: initial }) => [
    `\`${variable}\``,
    initial === undefined ? named(unset ?? 'none') : `\`${initial}\``,
    `${form === 'boolean' ? '`true`: ' : ''}${named(help)}${repeats ? ' (separated by commas)' : ''}`,
    flag === undefined ? '' : `\`--${flag}\``,
  ]);
  return tableOf(['variable', 'default', 'meaning', 'flag of `parley serve`'], rows);
}

/** The rows of options. An option of an agent and of its host has the row of the agent. */
function optionsTable() {
  const rows = new Map();
  for (const [file, type] of OPTIONS)
    for (const [name, meaning, { defaultValue, see }] of commentsOf(sourceOf(file), type)) {
      if (defaultValue === undefined) throw new Error(`${type}.${name} has no @defaultValue`);
      const page = see?.replace(/^docs\//, '').replace(/^configuration\.md(?=#)/, '');
      const label = page?.replace(/^.*#|\.md$/g, '').replaceAll('-', ' ');
      const text = `${meaning.replace(/\.$/, '')}${page === undefined ? '' : ` ([${label}](${page}))`}`;
      if (!rows.has(name)) rows.set(name, [`\`${name}\``, defaultValue, text]);
    }
  return tableOf(['option', 'default', 'meaning'], [...rows.values()]);
}

async function limitsTable(sources) {
  const rows = [];
  for (const [file, type, constant] of sources) {
    const { [constant]: defaults } = await moduleOf(file);
    const meanings = commentsOf(sourceOf(file), type);
    for (const [name, comment] of meanings) {
      const [sentence, count, unit] = / Default (\d+) (ms|s|min)\.$/.exec(comment) ?? [''];
      if (sentence !== '' && Number(count) * UNITS[unit] !== defaults[name])
        throw new Error(`${type}.${name} says${sentence} The default is ${defaults[name]}.`);
      rows.push([`\`${name}\``, String(defaults[name]), comment.replace(sentence, '').replace(/\.$/, '')]);
    }
  }
  return tableOf(['limit', 'default', 'meaning'], rows);
}

function sourceOf(file) {
  return join(library, 'src', `${file}.ts`);
}

/** The members of an interface, each with its comment, and the tags of it by name. */
function commentsOf(path, name) {
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.ESNext, true);
  const declaration = source.statements.find((one) => ts.isInterfaceDeclaration(one) && one.name.text === name);
  return declaration.members.map((member) => {
    const [doc] = member.jsDoc ?? [];
    if (doc === undefined) throw new Error(`${name}.${member.name.getText()} has no comment`);
    const text = doc
      .getText()
      .slice(3, -2)
      .replace(/^ *\* ?/gm, ' ')
      .replace(/\s+/g, ' ')
      .trim();
    const [comment, ...tags] = text.split(/ @(?=\w+ )/);
    return [member.name.getText(), comment, Object.fromEntries(tags.map((tag) => tag.split(/ (.*)/)))];
  });
}

function tableOf(head, rows) {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}
