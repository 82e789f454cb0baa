import type { Locator, Page } from 'playwright-core';

/** The tasks that wait for their user, as the user handles them. */
export class WaitingPage {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  get tasks(): Locator {
    return this.page.getByRole('list', { name: 'Waiting tasks' }).getByRole('article');
  }

  /** The waiting tasks of an agent. */
  of(agent: string): Locator {
    return this.tasks.filter({ has: this.page.getByRole('link', { name: agent }) });
  }

  /** Goes there by the navigation. */
  async open(): Promise<void> {
    await this.page.getByRole('navigation').getByRole('link', { name: 'Waiting for me' }).click();
  }

  text = (): Promise<string> => this.page.getByRole('main').innerText();
}
