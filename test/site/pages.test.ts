import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeVersions } from '../../site/versions.mjs';
import { BASE, OUT, ROOT, siteWorld, violationsOf } from './world.js';

const visit = siteWorld();

const PAGES = { home: '', guide: 'agents.html', reference: 'reference/parley-a2a-mcp.html' };
const WIDTHS = { 360: 740, 1280: 800, 2560: 1300 };

describe('a page', () => {
  for (const [name, path] of Object.entries(PAGES)) {
    it.each(['light', 'dark'] as const)(`fits and is accessible: ${name}, %s`, async (theme) => {
      const { page, open, keep } = await visit(theme);
      await open(path);
      for (const [width, height] of Object.entries(WIDTHS)) {
        await page.setViewportSize({ width: Number(width), height });
        await keep(`${name}-${theme}-${width}`);
        expect([width, await page.evaluate('document.documentElement.scrollWidth <= innerWidth')]).toEqual([
          width,
          true,
        ]);
        if (width === (theme === 'light' ? '360' : '1280')) expect(await violationsOf(page)).toEqual([]);
      }
    });
  }
});

describe('the search', () => {
  it.each([
    ['webhook', 'Push notifications', 'push.html'],
    ['createA2AServer', 'createA2AServer()', 'reference/parley-a2a.html#createa2aserver'],
    ['kubernetes', 'Kubernetes', 'replicas.html#kubernetes'],
  ])('finds %s: %s', async (word, title, place) => {
    const { page, open } = await visit();
    await open('');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('searchbox').fill(word);
    await page.getByRole('listbox').getByRole('option').first().filter({ hasText: title }).click();
    await page.waitForURL(new RegExp(`${BASE}${place}`));
    await page.getByRole('main').getByRole('heading', { name: title }).waitFor();
  });
});

it('a name in a guide leads to its description, which names the guide', async () => {
  const { page, open } = await visit();
  await open('storage.html');
  await page.getByRole('main').getByRole('link', { name: 'openStorage' }).first().click();
  await page.waitForURL(/reference\/parley-a2a\.html#openstorage/);
  const guides = page.locator('#openstorage + p');
  await guides.getByRole('link', { name: 'Storage' }).click();
  await page.waitForURL(/storage\.html/);
});

it('the theme of the system can be changed', async () => {
  const { page, open } = await visit('dark');
  await open('agents.html');
  const background = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
  const dark = await background();
  await page.getByRole('switch').first().click();
  await expect.poll(background).not.toBe(dark);
});

describe('the menu of versions', () => {
  const other = `${OUT}0.0.9/`;
  beforeAll(() => {
    mkdirSync(other, { recursive: true });
    const text = '<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>Old</title><h1>Old</h1></html>';
    for (const name of ['index.html', '404.html', 'storage.html']) writeFileSync(`${other}${name}`, text);
    writeFileSync(`${other}llms.txt`, '- [Storage](storage.md)\n');
    writeVersions(OUT, ROOT);
  });
  afterAll(() => {
    rmSync(other, { recursive: true });
    writeVersions(OUT, ROOT);
  });

  it.each([
    ['the same page', 'storage.html', 'storage.html'],
    ['the first page, if the version has no such page', 'agents.html', ''],
  ])('leads to %s', async (_, from, to) => {
    const { page, open } = await visit();
    await open(from);
    const menu = page.getByRole('combobox', { name: 'Version' }).first();
    await expect.poll(() => menu.getByRole('option').allInnerTexts()).toEqual(['0.0.9', 'next']);
    await menu.selectOption('0.0.9');
    await page.waitForURL(`**${ROOT}0.0.9/${to}`);
    await page.getByRole('heading', { name: 'Old' }).waitFor();
  });

  it('stands beside the way to the newest release', async () => {
    const { page, open } = await visit();
    await open('../');
    await page.waitForURL(`**${ROOT}0.0.9/`);
  });
});
