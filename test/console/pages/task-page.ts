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
