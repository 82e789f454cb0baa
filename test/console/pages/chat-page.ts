import type { FileChooser, Locator, Page } from 'playwright-core';

/** A conversation as its user handles it. */
export class ChatPage {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  get field(): Locator {
    return this.page.locator('.composer textarea');
  }

  get log(): Locator {
    return this.page.getByRole('log', { name: 'Conversation' });
  }

  /** The answers of the agent, without messages of the user. */
  get replies(): Locator {
    return this.log.locator('.reply');
  }

  /** A file of the last answer. */
  file(name: string): Locator {
    return this.replies.last().locator('.file', { hasText: name });
  }

  async say(text: string): Promise<void> {
    await this.field.fill(text);
    await this.field.press('Enter');
  }

  /** Answers the question of a tool about one of its calls. */
  async decide(decision: 'Approve' | 'Refuse'): Promise<void> {
    await this.log.getByRole('button', { name: decision, exact: true }).last().click();
  }

  /** Attaches files by the button: paths of files, or their contents. */
  async attach(files: Parameters<FileChooser['setFiles']>[0]): Promise<void> {
    const chooser = this.page.waitForEvent('filechooser');
    await this.page.getByRole('button', { name: 'Attach files' }).click();
    await (await chooser).setFiles(files);
  }

  /** Drops a file on the page. `file`: an expression of the page. */
  async drop(file: string): Promise<void> {
    await this.field.waitFor();
    await this.page.evaluate(`{
      const transfer = new DataTransfer();
      transfer.items.add(${file});
      for (const type of ['dragover', 'drop'])
        document.body.dispatchEvent(new DragEvent(type, { dataTransfer: transfer, bubbles: true, cancelable: true }));
    }`);
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
    // A text typed before that would go to the field of the earlier conversation, and disappear with it.
    await this.replies.first().waitFor({ state: 'detached' });
  }

  /** Opens the page of the task, and waits for it: both pages show the number of events. */
  async openTask(): Promise<void> {
    await this.log.getByRole('link', { name: 'Task and timeline' }).last().click();
    await this.page.getByRole('region', { name: 'Timeline' }).waitFor();
  }

  /** The text of the last answer. */
  text = async (): Promise<string> => ((await this.replies.count()) === 0 ? '' : this.replies.last().innerText());

  /** The titles of the kept conversations. */
  titles = (): Promise<string[]> =>
    this.page.getByRole('region', { name: 'Conversations' }).locator('li a').allInnerTexts();
}
