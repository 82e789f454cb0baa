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

const UNITS = { ms: 1, s: 1000, min: 60_000 };

/** A page whose tables are those of the code. A table stands behind `<!-- npm run reference: name -->`. */
export async function withTables(page) {
  const { nameSettings, SERVER_SETTINGS } = await moduleOf('app/server-settings');
  const tables = { settings: settingsTable(SERVER_SETTINGS, nameSettings) };
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

async function limitsTable(sources) {
  const rows = [];
  for (const [file, type, constant] of sources) {
    const { [constant]: defaults } = await moduleOf(file);
    const meanings = commentsOf(join(library, 'src', `${file}.ts`), type);
    for (const [name, comment] of meanings) {
      const [sentence, count, unit] = / Default (\d+) (ms|s|min)\.$/.exec(comment) ?? [''];
      if (sentence !== '' && Number(count) * UNITS[unit] !== defaults[name])
        throw new Error(`${type}.${name} says${sentence} The default is ${defaults[name]}.`);
      rows.push([`\`${name}\``, String(defaults[name]), comment.replace(sentence, '').replace(/\.$/, '')]);
    }
  }
  return tableOf(['limit', 'default', 'meaning'], rows);
}

/** The members of an interface with their comments. */
function commentsOf(path, name) {
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.ESNext, true);
  const declaration = source.statements.find((one) => ts.isInterfaceDeclaration(one) && one.name.text === name);
  return declaration.members.map((member) => {
    const comment = ts.getJSDocCommentsAndTags(member).map(({ comment: text }) => ts.getTextOfJSDocComment(text))[0];
    if (comment === undefined) throw new Error(`${name}.${member.name.getText()} has no comment`);
    return [member.name.getText(), comment.replace(/\s+/g, ' ')];
  });
}

function tableOf(head, rows) {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}
