import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { consoleWorld, expectText } from './world.js';

const world = consoleWorld();
const PAPER = { name: 'paper.txt', mimeType: 'text/plain', buffer: Buffer.from('hello') };

it('upload by button: the agent gets the file, its name and its type', async () => {
  const { page, talk, problems } = await world();
  const chat = await talk('/post');
  await chat.attach([PAPER, { name: 'dot.png', mimeType: 'image/png', buffer: Buffer.alloc(70) }]);
  const attached = page.getByRole('list', { name: 'Attached files' });
  await expectText(() => attached.innerText(), 'dot.png');
  await attached.getByRole('button', { name: 'Remove dot.png' }).click();
  await chat.say('Take it');
  await expectText(chat.text, 'Got paper.txt text/plain 5');
  expect(await chat.log.locator('.mine').innerText()).toContain('paper.txt');
  expect(await attached.count()).toBe(0);
  expect(problems).toEqual([]);
});

it('upload by drop', async () => {
  const { page, talk } = await world();
  const chat = await talk('/post');
  await chat.drop("new File(['dropped'], 'note.md', { type: 'text/markdown' })");
  await expectText(() => page.getByRole('list', { name: 'Attached files' }).innerText(), 'note.md');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await expectText(chat.text, 'Got note.md text/markdown 7');
});

it('a large file shows its progress, and its answer streams', async () => {
  const { page, talk } = await world();
  const chat = await talk('/post');
  await page.evaluate(`
    window.progress = [];
    new MutationObserver(() => {
      const bar = document.querySelector('progress[aria-label=Sending]');
      if (bar !== null) window.progress.push(bar.value);
    }).observe(document.body, { subtree: true, childList: true, attributes: true });
  `);
  await chat.attach([{ name: 'big.bin', mimeType: 'application/octet-stream', buffer: Buffer.alloc(3_000_000, 7) }]);
  await expectText(() => page.getByRole('list', { name: 'Attached files' }).innerText(), 'big.bin');
  await chat.say('Take it');
  await expectText(chat.text, 'Got big.bin application/octet-stream 3000000');
  const values = await page.evaluate<number[]>('window.progress');
  expect(values.length).toBeGreaterThan(0);
  expect(values).toEqual(values.toSorted((one, other) => one - other));
  expect(await page.getByRole('progressbar').count()).toBe(0);
});

it('the limit of the agent stands beside the field, and larger files are refused before they are sent', async () => {
  const { page, talk } = await world();
  const chat = await talk('/post');
  await expectText(() => page.getByRole('main').innerText(), 'Up to 7.8 MB of files.');
  const folder = mkdtempSync(join(tmpdir(), 'console-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  // The page reads the length alone, which a file without content has too.
  const huge = join(folder, 'huge.bin');
  writeFileSync(huge, '');
  truncateSync(huge, 8_000_000);
  await chat.attach(huge);
  await expectText(() => page.getByRole('alert').innerText(), 'huge.bin is too large: one message takes 7.8 MB of');
  const half = { mimeType: 'application/octet-stream', buffer: Buffer.alloc(4_000_000) };
  await chat.attach([
    { ...half, name: 'one.bin' },
    { ...half, name: 'two.bin' },
  ]);
  await expectText(() => page.getByRole('alert').innerText(), 'two.bin is too large');
  await page.getByRole('button', { name: 'Remove one.bin' }).click();
  await chat.attach([{ ...half, name: 'most.bin', buffer: Buffer.alloc(7_800_000) }]);
  await chat.say('Take it');
  await expectText(chat.text, 'Got most.bin application/octet-stream 7800000');
});
