import type { Locator, Page } from 'playwright-core';

/** A conversation as its user handles it. */
export class ChatPage {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  get field(): Locator {
    return this.page.getByRole('textbox');
  }

  get log(): Locator {
    return this.page.getByRole('log', { name: 'Conversation' });
  }

  /** The answers of the agent, without messages of the user. */
  get replies(): Locator {
    return this.log.locator('.reply');
  }

  async say(text: string): Promise<void> {
    await this.field.fill(text);
    await this.field.press('Enter');
  }

  async stop(): Promise<void> {
    await this.log.getByRole('button', { name: 'Stop' }).click();
  }

  async dropConnection(): Promise<void> {
    await this.log.getByRole('button', { name: 'Drop the connection' }).click();
  }

  async sendAgain(): Promise<void> {
    await this.log.getByRole('button', { name: 'Send again' }).last().click();
  }

  async chooseExample(text: string): Promise<void> {
    await this.page.getByRole('list', { name: 'Examples' }).getByRole('button', { name: text }).click();
  }

  async newConversation(): Promise<void> {
    await this.page.getByRole('link', { name: 'New conversation' }).click();
  }

  async openTask(): Promise<void> {
    await this.log.getByRole('link', { name: 'Task and timeline' }).last().click();
  }

  /** The text of the last answer. */
  text = async (): Promise<string> => ((await this.replies.count()) === 0 ? '' : this.replies.last().innerText());

  /** The titles of the kept conversations. */
  titles = (): Promise<string[]> =>
    this.page.getByRole('region', { name: 'Conversations' }).locator('li a').allInnerTexts();
}
