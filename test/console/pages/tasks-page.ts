import type { Locator, Page } from 'playwright-core';

/** The table of tasks as its user handles it. */
export class TasksPage {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  get rows(): Locator {
    return this.page.getByRole('table').locator('tbody tr');
  }

  /** Goes there by the navigation. */
  async open(): Promise<void> {
    await this.page.getByRole('navigation').getByRole('link', { name: 'Tasks' }).click();
  }

  async filter(state: string): Promise<void> {
    await this.page
      .getByRole('group', { name: 'Filter by state' })
      .getByRole('button', { name: state, exact: true })
      .click();
  }

  async search(text: string): Promise<void> {
    await this.page.getByRole('searchbox', { name: 'Find a task by its id' }).fill(text);
  }

  async find(id: string): Promise<void> {
    await this.search(id);
    await this.page.getByRole('searchbox').press('Enter');
  }

  text = (): Promise<string> => this.page.getByRole('main').innerText();

  states = (): Promise<string[]> => this.rows.locator('.state').allInnerTexts();

  ids = (): Promise<string[]> => this.rows.locator('.task-cell a').allInnerTexts();
}
