// The table of docs/frameworks.md, made of the table of the suite. `node test/frameworks/page.mjs` writes it.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isMain } from '../../scripts/processes.mjs';
import { CALLING_CASES, casesOf, SERVE, SERVED_CASES } from './cases.mjs';
import { peers } from './peers.mjs';
import { table } from './table.mjs';

export const PAGE = fileURLToPath(new URL('../../docs/frameworks.md', import.meta.url));
const BEGIN = '<!-- The table begins. -->';
const END = '<!-- The table ends. -->';
const COLUMNS = 100;

/** The page with its table as the suite has it. */
export function currentPage(page) {
  const [before, rest] = page.split(BEGIN);
  const after = rest?.split(END)[1];
  if (after === undefined) throw new Error(`The page has no marks ${BEGIN} and ${END}`);
  return `${before}${BEGIN}\n\n${tables()}\n${END}${after}`;
}

function tables() {
  const called = peers.flatMap((peer) => peer.ways.filter((way) => way !== SERVE).map((way) => [peer, way]));
  const serving = peers.filter(({ ways }) => ways.includes(SERVE)).map((peer) => [peer, SERVE]);
  return [
    '### Frameworks that call our agents\n',
    grid(called, CALLING_CASES),
    '### Our client and agents of frameworks\n',
    grid(serving, SERVED_CASES),
    '### Versions\n',
    versions(),
    '### What does not work\n',
    ...peers.flatMap((peer) => notesOf(peer)),
  ].join('\n');
}

function grid(rows, cases) {
  const names = Object.keys(cases);
  const lines = rows.map(([peer, way]) => [
    way === SERVE ? peer.name : `${peer.name}, ${way}`,
    ...names.map((name) => mark(table[peer.name]?.[way]?.[name])),
  ]);
  return asTable(['framework', ...names], lines);
}

function mark(cell) {
  if (cell === 'right') return 'yes';
  return cell?.none === undefined ? 'no' : '–';
}

function versions() {
  const rows = peers.map((peer) => [
    peer.name,
    `\`${peer.package}\``,
    peer.version,
    peer.needs ?? peer.language,
    peer.ci ? 'every run' : 'long runs',
  ]);
  return asTable(['framework', 'package', 'version', 'runs on', 'played in'], rows);
}

function asTable(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return `${[line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')}\n`;
}

/** One entry for each reason, with the ways and cases that it explains. */
function notesOf(peer) {
  const reasons = new Map();
  for (const way of peer.ways) {
    for (const name of Object.keys(casesOf(way))) {
      const cell = table[peer.name]?.[way]?.[name];
      if (cell === undefined || cell === 'right') continue;
      const said = cell.none === undefined ? `Fault of the ${cell.fault}: ${cell.why}` : `Not offered: ${cell.none}`;
      const place = peer.ways.length === 1 ? name : `${way} ${name}`;
      reasons.set(said, [...(reasons.get(said) ?? []), place]);
    }
  }
  if (reasons.size === 0) return [];
  const notes = [...reasons].map(([said, places]) => wrapped(`- ${places.join(', ')}. ${said}`));
  return [`**${peer.name}**\n`, `${notes.join('\n')}\n`];
}

function wrapped(text) {
  const lines = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= COLUMNS) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(last === undefined ? word : `  ${word}`);
  }
  return lines.join('\n');
}

if (isMain(import.meta.url)) writeFileSync(PAGE, currentPage(readFileSync(PAGE, 'utf8')));
