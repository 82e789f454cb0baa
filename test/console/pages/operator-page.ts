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
    await this.#part('Tasks').getByRole('button', { name: id }).click();
  }

  /** Chooses the tasks to show. */
  async filter({ state, agent, owner }: { readonly state?: string; readonly agent?: string; readonly owner?: string }) {
    const form = this.#part('Tasks').getByRole('search');
    if (state !== undefined) await form.getByLabel('State').selectOption(state);
    if (agent !== undefined) await form.getByLabel('Agent').selectOption(agent);
    if (owner === undefined) return;
    await form.getByLabel('Owner').fill(owner);
    await form.getByRole('button', { name: 'Filter' }).click();
  }

  async showEarlierRecords(): Promise<void> {
    await this.#part('Audit records').getByRole('button', { name: 'Show earlier ones' }).click();
  }

  async readRecordsAgain(): Promise<void> {
    await this.#part('Audit records').getByRole('button', { name: 'Read again' }).click();
  }

  tasks = (): Promise<string[]> => this.#rows('Tasks');

  counts = (): Promise<string[]> => this.#part('Counts').getByRole('listitem').allInnerTexts();

  records = (): Promise<string[]> => this.#rows('Audit records');

  auditText = (): Promise<string> => this.#part('Audit records').innerText();

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
