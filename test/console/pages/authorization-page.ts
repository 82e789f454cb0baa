import type { Page } from 'playwright-core';

/** The pages of the test's authorization server as their user handles them. */
export class AuthorizationPage {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  /** Follows the link of the console. */
  static async from(page: Page): Promise<AuthorizationPage> {
    const opened = page.context().waitForEvent('page');
    await page.getByRole('link', { name: /^Continue at/ }).click();
    return new AuthorizationPage(await opened);
  }

  /** Signs in as a user, and agrees. */
  async agree(user: string): Promise<void> {
    await this.page.locator('[name=login]').fill(user);
    await this.page.locator('[name=password]').fill('x');
    await this.page.getByRole('button').first().click();
    await this.page.getByRole('button', { name: 'Continue' }).click();
  }

  /** Confirms the code of a device. */
  async confirmCode(): Promise<void> {
    await this.page.getByRole('button', { name: /continue|confirm/i }).click();
  }

  text = (): Promise<string> => this.page.locator('body').innerText();
}
