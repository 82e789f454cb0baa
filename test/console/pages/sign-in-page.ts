import type { Page } from 'playwright-core';

/** The forms for credentials as their user handles them. */
export class SignInPage {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  async withKey(key: string): Promise<void> {
    await this.page.getByLabel('API key').fill(key);
    await this.page.getByRole('button', { name: 'Sign in' }).first().click();
  }

  async withPassword(user: string, password: string): Promise<void> {
    await this.page.getByLabel('User').fill(user);
    await this.page.getByLabel('Password').fill(password);
    await this.page.getByLabel('Password').press('Enter');
  }

  async withToken(token: string): Promise<void> {
    await this.page.getByLabel('Bearer token').fill(token);
    await this.page.getByLabel('Bearer token').press('Enter');
  }

  async signOut(): Promise<void> {
    await this.page.getByRole('button', { name: 'Sign out' }).click();
  }

  text = (): Promise<string> => this.page.getByRole('main').innerText();
}
