import { expect, it } from 'vitest';
import { consoleWorld, expectText } from './world.js';

const world = consoleWorld();
const DECEIVING = /[\u200b\u202e]/;

it('a hostile agent: nothing of it runs, and nothing loads, on any page', async () => {
  const { page, url, foreign, problems, open, talk } = await world();
  const requests: string[] = [];
  const texts: string[] = [];
  const read = async () => texts.push(await page.locator('body').innerText());
  page.on('request', (request) => requests.push(request.url().slice(url.length)));
  await open();
  await page.getByRole('heading', { name: 'Agents' }).waitFor();
  const chat = await talk('/hostile');
  await chat.say('<script>document.title="owned"</script>');
  await expectText(chat.text, 'Completed');
  await page.getByText('on the way').click();
  await expectText(chat.text, 'deep');
  await read();
  await chat.openTask();
  await expectText(() => page.getByRole('main').innerText(), 'No gap');
  await page.getByText('Show JSON').click();
  await read();
  await open('#/agent/%2Fhostile/card');
  await page.getByText('Show JSON').click();
  await read();
  await open('#/agent/%2Fhostile/tasks');
  await page.getByRole('table').waitFor();
  expect(await page.title()).not.toBe('owned');
  expect(texts.filter((text) => text.includes('\u202e'))).toEqual([]);
  expect(foreign).toEqual([]);
  expect(requests.filter((path) => /beacon|framed|pixel|\/x$/.test(path))).toEqual([]);
  // The policy of the page had nothing to stop.
  expect(problems).toEqual([]);
});

it('a hostile agent makes no element beside those of Markdown, and no link that runs', async () => {
  const { page, talk } = await world();
  const chat = await talk('/hostile');
  await chat.say('Hello');
  await expectText(chat.text, 'Completed');
  const reply = chat.replies.last();
  const countElements = (selector: string) => reply.locator(selector).count();
  for (const selector of ['img', 'script', 'iframe', 'svg', 'object', 'form', 'style', '[onerror]', '[onload]'])
    expect([selector, await countElements(selector)]).toEqual([selector, 0]);
  const links = await reply.locator('a').evaluateAll((all) => all.map((one) => one.getAttribute('href') ?? ''));
  expect(links.filter((href) => !/^(?:https?:\/\/|#\/)/.test(href))).toEqual([]);
  await reply.getByText('press here').click();
  expect(await page.title()).not.toBe('owned');
});

it('names of a hostile agent are short, on one line, and without characters that deceive', async () => {
  const { page, talk } = await world();
  const chat = await talk('/hostile');
  await page.getByRole('textbox').waitFor();
  const heading = await page.getByRole('heading', { level: 1 }).innerText();
  expect(heading.length).toBeLessThan(130);
  expect(heading).toContain('<b>safe</b>');
  for (const text of [heading, await page.title(), await page.getByRole('navigation').innerText()])
    expect(text).not.toMatch(DECEIVING);
  await chat.say('Files');
  await expectText(chat.text, 'Completed');
  const names = await chat.replies.last().locator('.file-name').allInnerTexts();
  expect(names.filter((name) => DECEIVING.test(name))).toEqual([]);
  const saved = page.waitForEvent('download');
  await chat.replies.last().getByRole('button', { name: 'Download' }).first().click();
  expect((await saved).suggestedFilename()).not.toMatch(/[\\/\u202e]/);
  // No text makes the page wider than the window.
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
});
