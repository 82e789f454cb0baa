import type { Locator, Page } from 'playwright-core';

/** The push inbox of an agent as its user handles it. */
export class InboxPage {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  /** Registers the inbox on the page of a task. */
  async register(): Promise<void> {
    await this.page.getByRole('button', { name: 'Send notifications to the inbox' }).click();
  }

  /** Registers the inbox, and goes to it. */
  async openFromTask(): Promise<void> {
    await this.register();
    await this.page.getByRole('link', { name: 'Open the push inbox' }).click();
    await this.page.getByRole('heading', { name: 'Push inbox' }).waitFor();
  }

  async refuseNext(): Promise<void> {
    const answered = this.page.waitForResponse((answer) => answer.request().postData()?.includes('"fail"') === true);
    await this.page.getByRole('button', { name: 'Refuse the next notification' }).click();
    await answered;
  }

  get deliveries(): Locator {
    return this.page.getByRole('list', { name: 'Deliveries' }).getByRole('listitem');
  }

  /** The lines of the deliveries, the latest first. */
  lines = (): Promise<string[]> => this.deliveries.locator('summary').allInnerTexts();

  text = (): Promise<string> => this.page.getByRole('main').innerText();
}
