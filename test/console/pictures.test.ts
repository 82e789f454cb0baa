import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { STORY } from './agents.js';
import { consoleWorld, expectText, filledInbox } from './world.js';

/** The pictures of docs/console.md. With UPDATE_PICTURES=1 they are written, otherwise compared. */
const folder = fileURLToPath(new URL('../../docs/console/', import.meta.url));
const isUpdate = process.env.UPDATE_PICTURES !== undefined;
const MOST_BYTES = 60_000;
/** The mean difference of the brightness of a small copy, from 0 to 255. Texts of other times and ports have less. */
const MOST_DIFFERENCE = 1.5;

const world = consoleWorld();

/** A picture of the page as WebP, which the browser makes itself. */
async function pictureOf(page: Page): Promise<Buffer> {
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  // A caret blinks.
  await page.evaluate('document.activeElement?.blur()');
  const png = (await page.screenshot()).toString('base64');
  const painter = await page.context().newPage();
  const url = await painter.evaluate<string>(`(async () => {
    const bitmap = await createImageBitmap(await (await fetch('data:image/png;base64,${png}')).blob());
    const canvas = Object.assign(document.createElement('canvas'), { width: bitmap.width, height: bitmap.height });
    canvas.getContext('2d').drawImage(bitmap, 0, 0);
    return canvas.toDataURL('image/webp', 0.8);
  })()`);
  await painter.close();
  return Buffer.from(url.slice(url.indexOf(',') + 1), 'base64');
}

/** The mean difference of two pictures in brightness. */
async function differenceOf(page: Page, pictures: readonly Buffer[]): Promise<number> {
  const painter = await page.context().newPage();
  const difference = await painter.evaluate<number>(`(async () => {
    const [one, other] = await Promise.all(${JSON.stringify(pictures.map((one) => one.toString('base64')))}.map(async (text) => {
      const bitmap = await createImageBitmap(await (await fetch('data:image/webp;base64,' + text)).blob());
      const context = new OffscreenCanvas(160, 100).getContext('2d');
      context.imageSmoothingQuality = 'high';
      context.drawImage(bitmap, 0, 0, 160, 100);
      return context.getImageData(0, 0, 160, 100).data;
    }));
    let sum = 0;
    for (let at = 0; at < one.length; at++) sum += Math.abs(one[at] - other[at]);
    // The fourth byte of a pixel is its opacity.
    return sum / (one.length * 3 / 4);
  })()`);
  await painter.close();
  return difference;
}

/** Writes the picture of a page, or tells that it is old. */
async function keep(page: Page, name: string): Promise<void> {
  const path = `${folder}${name}.webp`;
  const picture = await pictureOf(page);
  expect([name, picture.length <= MOST_BYTES]).toEqual([name, true]);
  if (isUpdate) return writeFileSync(path, picture);
  const advice = `docs/console/${name}.webp is old. Make it by UPDATE_PICTURES=1 node test/console/run.mjs pictures`;
  expect(existsSync(path), advice).toBe(true);
  const difference = await differenceOf(page, [picture, readFileSync(path)]);
  process.stdout.write(`docs/console/${name}.webp differs by ${difference.toFixed(2)}\n`);
  expect(difference, advice).toBeLessThanOrEqual(MOST_DIFFERENCE);
}

it('a conversation, the page of its task, and the card', async () => {
  const { page, steps, open, talk } = await world();
  const chat = await talk('/story');
  await chat.say('Note: buy oil');
  await expectText(chat.text, 'Completed');
  await chat.say('Tell me about the lighthouse');
  steps.allow(STORY.length - 1);
  await expectText(chat.text, 'const lamp');
  await keep(page, 'conversation');
  steps.allow(1);
  await expectText(chat.text, 'Completed');
  await chat.openTask();
  await expectText(() => page.getByRole('main').innerText(), 'No gap');
  await page.getByRole('region', { name: 'Events' }).getByRole('button').nth(1).click();
  await keep(page, 'task');
  await open('#/agent/%2Fstory/card');
  await page.getByText('The card follows the schema.').waitFor();
  await keep(page, 'card');
});

it('what waits for the user', async () => {
  const { page, open, talk } = await world();
  for (const path of ['/pay', '/rooms']) {
    const chat = await talk(path);
    await chat.say('Please');
    await expectText(chat.text, 'Needs your answer');
  }
  await open('#/waiting');
  await expect.poll(() => page.getByRole('list', { name: 'Waiting tasks' }).getByRole('article').count()).toBe(2);
  await keep(page, 'waiting');
});

it('the push inbox', async () => {
  const opened = await world({ push: { allow: ['127.0.0.1'] } });
  await filledInbox(opened);
  await keep(opened.page, 'inbox');
});

it('two bindings side by side', async () => {
  const { page, open } = await world();
  await open('#/agent/%2Fstory/compare');
  await page.getByLabel('Message').fill('Note: buy oil');
  await page.getByRole('button', { name: 'Send to both' }).click();
  await page.getByText('Both answers are the same').waitFor();
  await keep(page, 'compare');
});

it.skipIf(isUpdate)('a page that has changed makes its picture old', async () => {
  const { page, open } = await world();
  await open('#/agent/%2Fstory/compare');
  await page.getByRole('button', { name: 'Send to both' }).waitFor();
  const picture = readFileSync(`${folder}compare.webp`);
  expect(await differenceOf(page, [await pictureOf(page), picture])).toBeGreaterThan(MOST_DIFFERENCE);
});
