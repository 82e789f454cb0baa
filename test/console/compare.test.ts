import { expect, it } from 'vitest';
import { consoleWorld, expectText } from './world.js';

const world = consoleWorld();

it('two bindings and two versions side by side: the same answer, and a different one', async () => {
  let told = 0;
  const { page, open, problems } = await world({
    agents: {
      '/same': { name: 'Same', agent: (text) => `You said ${text}` },
      '/other': { name: 'Other', agent: () => `Answer ${++told}` },
    },
  });
  const main = () => page.getByRole('main').innerText();
  const send = async (): Promise<void> => {
    await page.getByLabel('Message').fill('hello');
    await page.getByRole('button', { name: 'Send to both' }).click();
  };
  await open('#/agent/%2Fsame/compare');
  await page.getByLabel('First interface').selectOption('JSONRPC 1.0');
  for (const second of ['HTTP+JSON 1.0', 'JSONRPC 0.3']) {
    await page.getByLabel('Second interface').selectOption(second);
    await send();
    await expectText(main, 'Both answers are the same');
    expect(await page.getByRole('region', { name: 'Contents of answer 2' }).innerText()).toContain('You said hello');
  }
  await open('#/agent/%2Fother/compare');
  await send();
  await expectText(main, 'The answers differ in');
  expect(problems).toEqual([]);
});
