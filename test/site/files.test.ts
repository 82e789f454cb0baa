import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { brokenLinks } from '../../site/broken-links.mjs';
import { withSiteLinks } from '../../site/links.mjs';
import { newestFirst } from '../../site/versions.mjs';
import { BASE, SITE } from './world.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const filesIn = (folder: string) => readdirSync(folder, { recursive: true }).map(String);
const documents = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md') && name !== 'README.md');
const read = (name: string) => readFileSync(join(SITE, name), 'utf8');
const linkTargets = (text: string) => Array.from(text.matchAll(/\]\(([^)]+)\)/g), ([, target]) => target ?? '');

describe('links', () => {
  let copy: string;
  beforeAll(() => {
    copy = mkdtempSync(join(tmpdir(), 'parley-site-'));
    cpSync(SITE, copy, { recursive: true });
  });
  afterAll(() => rmSync(copy, { recursive: true, force: true }));

  it('lead somewhere', () => {
    expect(brokenLinks(SITE, BASE)).toEqual([]);
  });

  it.each([
    ['storage.html', 'storag.html', 'there is no such file'],
    ['#surviving-a-crash', '#surviving-crashes', 'there is no such anchor'],
    [`${BASE}icon.svg`, '/icon.svg', 'it leads out of the site'],
  ])('that are broken are found: %s', (link, broken, reason) => {
    const page = readFileSync(join(SITE, 'agents.html'), 'utf8');
    const changed = page.replaceAll(new RegExp(`(?<=(?:href|src)="[^"]*)${link}(?=["#])`, 'g'), broken);
    expect(changed).not.toBe(page);
    writeFileSync(join(copy, 'agents.html'), changed);
    expect([...new Set(brokenLinks(copy, BASE).map((found) => `${found.page}: ${found.reason}`))]).toEqual([
      `agents.html: ${reason}`,
    ]);
  });
});

describe('a link of a document', () => {
  const change = (markdown: string, urlOf = (_: string): string | undefined => undefined) =>
    withSiteLinks(markdown, { path: 'docs/agents.md', urlOf });

  it.each([
    ['to another document', '[a](storage.md#one-process)', '[a](storage.md#one-process)'],
    ['to the index of the documents', '[a](README.md)', '[a](guides.md)'],
    ['to the changelog', '[a](../CHANGELOG.md)', '[a](changelog.md)'],
    ['to a picture', '![a](console.png)', '![a](console.png)'],
    ['to another host', '[a](https://example.com/a.md)', '[a](https://example.com/a.md)'],
    ['to a file that is no page', '[`a`](../test/crash)', '`a`'],
    ['to a decision', '[a](decisions/0001-one-storage-engine.md)', '[a](decisions/0001-one-storage-engine.md)'],
    ['to the index of the decisions', '[a](decisions/README.md)', '[a](decisions/index.md)'],
    ['in a block of code', '```md\n[a](../test/crash)\n```\n', '```md\n[a](../test/crash)\n```\n'],
  ])('%s', (_, markdown, expected) => {
    expect(change(markdown)).toBe(expected);
  });

  it('to a file that is no page leads to the repository, if that is known', () => {
    const urlOf = (path: string) => `https://example.com/blob/main/${path}`;
    expect(change('[a](../test/crash/crash.test.ts)', urlOf)).toBe(
      '[a](https://example.com/blob/main/test/crash/crash.test.ts)',
    );
  });
});

describe('for language models', () => {
  it('each page has its Markdown beside it, with links that lead somewhere', () => {
    const pages = filesIn(SITE).filter((name) => name.endsWith('.html') && name !== '404.html');
    expect(pages.length).toBeGreaterThan(documents.length);
    expect(pages.filter((name) => !existsSync(join(SITE, name.replace(/html$/, 'md'))))).toEqual([]);
  });

  it('llms.txt names every document, the reference and the skill of the command line', () => {
    const links = linkTargets(read('llms.txt'));
    expect(links).toEqual(expect.arrayContaining([...documents, 'reference/parley-a2a.md', 'skill/SKILL.md']));
    expect(links.filter((link) => !existsSync(join(SITE, link)))).toEqual([]);
  });

  it('llms-full.txt has every document', () => {
    const text = read('llms-full.txt');
    const titles = documents.map((name) => readFileSync(join(root, 'docs', name), 'utf8').split('\n', 1)[0] ?? '');
    expect(titles.filter((title) => !text.includes(`${title}\n`))).toEqual([]);
  });

  it('the skill is that of the command line', () => {
    expect(read('skill/SKILL.md')).toBe(readFileSync(join(root, 'packages/cli/skill/SKILL.md'), 'utf8'));
  });
});

it('the newest release comes first, and what is no release last', () => {
  expect(['next', '0.9.1', '0.10.0', '1.0.0'].sort(newestFirst)).toEqual(['1.0.0', '0.10.0', '0.9.1', 'next']);
});
