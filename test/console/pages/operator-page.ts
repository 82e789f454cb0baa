import type { Locator, Page } from 'playwright-core';

/** The page of operators as its user handles it. */
export class OperatorPage {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  /** Goes there by the navigation. */
  async open(): Promise<void> {
    await this.page.getByRole('navigation').getByRole('link', { name: 'Operator', exact: true }).click();
  }

  async giveToken(token: string): Promise<void> {
    await this.page.getByLabel('Operator token').fill(token);
    await this.page.getByRole('button', { name: 'Show', exact: true }).click();
  }

  async replayFirst(): Promise<void> {
    await this.#part('Failed webhooks').getByRole('button', { name: 'Replay' }).first().click();
  }

  /** Shows the record of a task. */
  async openTask(id: string): Promise<void> {
    await this.#part('Unfinished tasks').getByRole('button', { name: id }).click();
  }

  tasks = (): Promise<string[]> => this.#rows('Unfinished tasks');

  webhooks = (): Promise<string[]> => this.#rows('Failed webhooks');

  replicas = (): Promise<string[]> => this.#rows('Replicas');

  text = (): Promise<string> => this.page.getByRole('main').innerText();

  #part(name: string): Locator {
    return this.page.getByRole('region', { name, exact: true });
  }

  #rows(name: string): Promise<string[]> {
    return this.#part(name).locator('tbody tr').allInnerTexts();
  }
}
