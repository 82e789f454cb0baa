// Links between the names in the documents and their descriptions in the reference.
import { posix } from 'node:path';
import { anchorOf, outsideOfCode } from './links.mjs';

/** Documents that a name leads to. */
const MOST_GUIDES = 3;

/** The place of each described name: `reference/parley-a2a.md#connect`. `described` has the Markdown of each file. */
export function symbolsOf(described) {
  const symbols = new Map();
  for (const [file, markdown] of described) {
    for (const [, heading] of markdown.matchAll(/^### (.*)$/gm)) {
      const name = nameOf(heading);
      if (!symbols.has(name)) symbols.set(name, `reference/${file}#${anchorOf(heading)}`);
    }
  }
  return symbols;
}

/** The name in a heading of TypeDoc: `abstract createA2AServer()\<T\>`. */
function nameOf(heading) {
  return heading
    .replace(/^abstract /, '')
    .replaceAll('\\', '')
    .replace(/[(<].*$/, '');
}

/**
 * The name that code in a sentence stands for: `connect()`, `new ApiKeys(…)` and `AgentCard` are names. A plain word
 * such as `agent` is one only if it is written as a call.
 */
export function namedBy(code) {
  const [, name, call] = /^(?:new )?([A-Za-z]\w*)(\(.*\))?$/.exec(code) ?? [];
  return name !== undefined && (call !== undefined || /[A-Z]/.test(name)) ? name : undefined;
}

/**
 * The documents that name a symbol, those with the most mentions first. `documents` are places with their titles and
 * texts, in the order in which they are read.
 */
export function guidesOf(documents, symbols) {
  const guides = new Map(Array.from(symbols.keys(), (name) => [name, []]));
  for (const { place, title, markdown } of documents) {
    for (const [name, { count, anchor }] of mentionsIn(markdown)) {
      guides.get(name)?.push({ count, title, link: anchor === undefined ? place : `${place}#${anchor}` });
    }
  }
  for (const found of guides.values()) found.sort((one, other) => other.count - one.count).splice(MOST_GUIDES);
  return guides;
}

/** Each name in a document: how often it stands there, and the section with the first mention. */
function mentionsIn(markdown) {
  const mentions = new Map();
  let anchor;
  const mention = (name) => {
    const known = mentions.get(name);
    if (known === undefined) mentions.set(name, { count: 1, anchor });
    else known.count++;
  };
  for (const section of markdown.split(/^(?=##+ )/m)) {
    const [, heading] = /^##+ (.*)$/m.exec(section) ?? [];
    anchor = heading && section.startsWith('##') ? anchorOf(heading) : undefined;
    for (const [, names] of section.matchAll(/^import \{([^}]*)\} from '(?:create-)?parley-a2a/gm)) {
      for (const name of names.split(',')) mention(name.replace(/^\s*type\s/, '').trim());
    }
    outsideOfCode(section, (prose) => {
      for (const [, code] of prose.matchAll(/`([^`\n]+)`/g)) {
        const name = namedBy(code);
        if (name !== undefined) mention(name);
      }
      return prose;
    });
  }
  return mentions;
}

/** The Markdown of a page of the reference, with the documents of each name below its heading. */
export function withGuides(markdown, guides) {
  return markdown.replace(/^### (.*)$/gm, (line, heading) => {
    const links = (guides.get(nameOf(heading)) ?? []).map(({ title, link }) => `[${title}](../${link})`);
    return links.length === 0 ? line : `${line}\n\nGuide: ${links.join(', ')}`;
  });
}

/** A plugin of markdown-it: the first mention of a name in a section links to its description. */
export function linkSymbols(md, symbols) {
  md.core.ruler.push('symbols', ({ tokens, env, Token }) => {
    const from = env.relativePath;
    if (from === undefined || symbols.size === 0 || from.startsWith('reference/') || from === 'changelog.md') return;
    let linked = new Set();
    tokens.forEach((token, index) => {
      if (token.type === 'heading_open') linked = new Set();
      if (token.type !== 'inline' || tokens[index - 1]?.type === 'heading_open') return;
      token.children = linkedTokens(token.children, (code) => {
        const name = namedBy(code);
        const symbol = symbols.get(name);
        if (symbol === undefined || linked.has(name)) return undefined;
        linked.add(name);
        const open = new Token('link_open', 'a', 1);
        open.attrs = [['href', posix.relative(posix.dirname(from), symbol)]];
        return [open, new Token('link_close', 'a', -1)];
      });
    });
  });
}

function linkedTokens(tokens, linkOf) {
  let depth = 0;
  return tokens.flatMap((token) => {
    if (token.type === 'link_open') depth++;
    if (token.type === 'link_close') depth--;
    const link = token.type === 'code_inline' && depth === 0 ? linkOf(token.content) : undefined;
    return link === undefined ? [token] : [link[0], token, link[1]];
  });
}
