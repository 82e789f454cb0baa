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

  /** Begins a sign-in by a page of the authorization server. */
  async byPage(clientId: string): Promise<void> {
    await this.#begin('Sign in by a page', clientId);
  }

  /** Begins a sign-in with a code on another device. */
  async withCode(clientId: string): Promise<void> {
    await this.#begin('Sign in with a code', clientId);
  }

  async #begin(title: string, clientId: string): Promise<void> {
    const form = this.page.locator('form').filter({ has: this.page.getByRole('heading', { name: title }) });
    await form.getByLabel('Client id').fill(clientId);
    await form.getByRole('button', { name: 'Sign in' }).click();
  }

  async signOut(): Promise<void> {
    await this.page.getByRole('button', { name: 'Sign out' }).click();
  }

  text = (): Promise<string> => this.page.getByRole('main').innerText();
}
