import { expect, it } from 'vitest';
import { STORY } from './agents.js';
import { ChatPage } from './pages/chat-page.js';
import { TaskPage } from './pages/task-page.js';
import { consoleWorld, expectText } from './world.js';

const world = consoleWorld();
const WHOLE = STORY.length;

it('a first message: choose an agent and an example, and read the answer as Markdown', async () => {
  const { page, steps, open, problems } = await world();
  await open();
  await page.getByRole('link', { name: 'Storyteller' }).click();
  const chat = new ChatPage(page);
  steps.allow(WHOLE);
  await chat.chooseExample('Tell me about the lighthouse');
  await expectText(chat.text, 'Completed');
  const reply = chat.replies.last();
  expect(await reply.locator('strong').innerText()).toBe('keeper');
  expect(await reply.locator('ol li').allInnerTexts()).toEqual(['A brig', 'A cutter', 'A schooner']);
  expect(await reply.locator('td').allInnerTexts()).toEqual(['Brig', '2', 'Cutter', '1']);
  expect(await reply.locator('pre code').innerText()).toBe('const lamp = "lit";');
  expect(await reply.getByRole('link', { name: 'https://example.com/harbour' }).getAttribute('rel')).toBe(
    'noopener noreferrer',
  );
  expect(problems).toEqual([]);
});

it('stream and stop: text appears while the agent writes, and the task is canceled', async () => {
  const { steps, talk } = await world();
  const chat = await talk('/story');
  await chat.say('A story about ships, please');
  steps.allow(2);
  await expectText(chat.text, 'who counted ships');
  expect(await chat.text()).toContain('Working');
  await chat.stop();
  await expectText(chat.text, 'Canceled');
  await chat.sendAgain();
  steps.allow(WHOLE);
  await expectText(chat.text, 'Completed');
  expect(await chat.replies.count()).toBe(2);
});

it('drop and resume: the stream goes on after a dropped connection, and every part is there once', async () => {
  const { page, steps, talk } = await world();
  const chat = await talk('/story');
  await chat.say('Tell me about the lighthouse');
  steps.allow(3);
  await expectText(chat.text, 'A cutter');
  await chat.dropConnection();
  steps.allow(WHOLE);
  await expectText(chat.text, 'Completed');
  await expectText(chat.text, 'resumed once');
  const text = await chat.text();
  for (const piece of ['Once there was', 'A brig', 'A cutter', 'A schooner', 'the lamp stayed'])
    expect(text.split(piece)).toHaveLength(2);
  await chat.openTask();
  const task = new TaskPage(page);
  await expectText(task.text, 'No gap');
  await expect.poll(task.numbers).toEqual(Array.from({ length: WHOLE + 3 }, (_, at) => at + 1));
});

it('answer: the agent asks, and the answer goes to the same task', async () => {
  const { talk } = await world();
  const chat = await talk('/paint');
  await chat.say('Paint my fence');
  await expectText(chat.text, 'Needs your answer');
  expect(await chat.page.getByRole('textbox', { name: 'Your answer' }).isVisible()).toBe(true);
  await chat.say('green');
  await expectText(chat.text, 'The fence is green.');
  await expectText(chat.text, 'Completed');
  const tasks = await chat.log
    .getByRole('link', { name: 'Task and timeline' })
    .evaluateAll((links) => links.map((link) => link.getAttribute('href')));
  expect(new Set(tasks).size).toBe(1);
});

it('reload in mid-stream: the conversation is there, and its stream goes on', async () => {
  const { page, steps, talk } = await world();
  const chat = await talk('/story');
  await chat.say('Tell me about the lighthouse');
  steps.allow(2);
  await expectText(chat.text, 'who counted ships');
  await page.reload();
  await expectText(chat.text, 'who counted ships');
  steps.allow(WHOLE);
  await expectText(chat.text, 'Completed');
  const text = await chat.text();
  for (const piece of ['Once there was', 'who counted', 'A brig']) expect(text.split(piece)).toHaveLength(2);
});

it('several conversations: each keeps its messages and its context', async () => {
  const { page, talk } = await world();
  const chat = await talk('/story');
  await chat.say('Note: buy oil');
  await expectText(chat.text, 'Noted: buy oil');
  await chat.newConversation();
  await chat.say('Note: feed the cat');
  await expectText(chat.text, 'Noted: feed the cat');
  await chat.say('Note: wind the clock');
  await expectText(chat.text, 'Noted: wind the clock');
  await expect.poll(chat.titles).toEqual(['Note: feed the cat', 'Note: buy oil']);
  await page.reload();
  await page.getByRole('link', { name: 'Note: buy oil', exact: true }).click();
  await expectText(chat.text, 'Noted: buy oil');
  expect(await chat.replies.count()).toBe(1);
  await page.getByRole('button', { name: 'Forget the conversation Note: buy oil' }).click();
  await expect.poll(chat.titles).toEqual(['Note: feed the cat']);
});

it('files: nothing is loaded before a click, pictures are shown, and all files are saved', async () => {
  const { page, foreign, talk } = await world();
  const chat = await talk('/files');
  await chat.say('All papers');
  await expectText(chat.text, 'drawing.svg');
  const file = (name: string) => chat.replies.last().locator('figure').filter({ hasText: name });
  expect(await chat.replies.last().locator('img').count()).toBe(0);
  await file('dot.png').getByRole('button', { name: 'Show' }).click();
  await expect.poll(() => page.evaluate('document.images[0]?.naturalWidth')).toBe(1);
  // A drawing could hold scripts.
  expect(await file('drawing.svg').getByRole('button', { name: 'Show' }).count()).toBe(0);
  const saved = page.waitForEvent('download');
  await file('drawing.svg').getByRole('button', { name: 'Download' }).click();
  expect((await saved).suggestedFilename()).toBe('drawing.svg');
  expect(await file('report.pdf').getByRole('link').getAttribute('href')).toBe('https://files.example.com/report.pdf');
  expect(foreign).toEqual([]);
});

it('offline and back: a message fails with a reason, and is sent again', async () => {
  const { page, talk } = await world();
  const chat = await talk('/story');
  await page.getByRole('button', { name: 'Note: buy oil' }).waitFor();
  await chat.say('Note: first');
  await expectText(chat.text, 'Noted: first');
  await page.context().setOffline(true);
  await chat.say('Note: second');
  await chat.replies.last().getByRole('alert').waitFor();
  await page.context().setOffline(false);
  await chat.sendAgain();
  await expectText(chat.text, 'Noted: second');
});
