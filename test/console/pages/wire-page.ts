import type { Locator, Page } from 'playwright-core';

/** The calls on the wire as their user reads them. */
export class WirePage {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  get calls(): Locator {
    return this.page.getByRole('list', { name: 'Calls' }).getByRole('listitem');
  }

  /** Goes there by the navigation. */
  async open(): Promise<void> {
    await this.page.getByRole('navigation').getByRole('link', { name: 'Wire' }).click();
  }

  text = (): Promise<string> => this.page.getByRole('main').innerText();
}
