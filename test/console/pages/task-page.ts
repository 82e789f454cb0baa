import type { Locator, Page } from 'playwright-core';

/** A task as its user looks at it. */
export class TaskPage {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  get events(): Locator {
    return this.page.getByRole('region', { name: 'Events' }).getByRole('button');
  }

  async cancel(): Promise<void> {
    await this.page.getByRole('button', { name: 'Cancel the task' }).click();
  }

  /** Decides about a call of a tool. */
  async decide(decision: 'Approve' | 'Refuse'): Promise<void> {
    await this.page.getByRole('region', { name: 'Your answer' }).getByRole('button', { name: decision }).click();
  }

  /** Answers a question with a text, once the page follows its task. */
  async answer(text: string): Promise<void> {
    await this.page.getByRole('button', { name: 'Drop the connection' }).waitFor();
    await this.page.getByRole('textbox', { name: 'Your answer' }).fill(text);
    await this.page.getByRole('button', { name: 'Answer', exact: true }).click();
  }

  async dropConnection(): Promise<void> {
    await this.page.getByRole('button', { name: 'Drop the connection' }).click();
  }

  /** The numbers of the visible events. */
  numbers = async (): Promise<number[]> => (await this.events.locator('.event-number').allInnerTexts()).map(Number);

  text = (): Promise<string> => this.page.getByRole('main').innerText();

  snippet(name: string): Locator {
    return this.page
      .locator('.snippet')
      .filter({ has: this.page.getByRole('heading', { name }) })
      .locator('pre');
  }
}
