import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { serve } from '../../site/serve.mjs';
import { launchChromium } from '../support/chromium.mjs';

/** The site as `run.mjs` has built it. */
export const ROOT = '/parley/';
export const BASE = `${ROOT}next/`;
export const OUT = fileURLToPath(new URL('../../.cache/site/', import.meta.url));
export const SITE = `${OUT}next/`;
const PICTURES = fileURLToPath(new URL('../../.cache/site-screenshots/', import.meta.url));
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** A page of the site in Chromium. */
export interface Visit {
  readonly page: Page;
  /** Goes to a page of the site. */
  open(path: string): Promise<void>;
  /** Keeps a picture of the page. */
  keep(name: string): Promise<void>;
}

/** Serves the site to one browser. A test fails if its page reports an error or calls another host. */
export function siteWorld(folder = OUT): (theme?: 'light' | 'dark') => Promise<Visit> {
  let browser: Browser;
  let server: Awaited<ReturnType<typeof serve>>;
  let host: string;
  let problems: string[] = [];
  const pages: Page[] = [];
  beforeAll(async () => {
    server = await serve(folder, { root: ROOT, port: 0 });
    host = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    browser = await launchChromium();
  });
  afterEach(async () => {
    for (const page of pages.splice(0)) await page.close();
    const found = problems;
    problems = [];
    expect(found).toEqual([]);
  });
  afterAll(async () => {
    await browser.close();
    server.close();
  });
  return async (theme = 'light') => {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: theme });
    pages.push(page);
    page.on('request', (request) => {
      if (!request.url().startsWith(`${host}/`)) problems.push(`called ${request.url()}`);
    });
    page.on('pageerror', ({ message }) => problems.push(message));
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text());
    });
    return {
      page,
      open: async (path) => {
        await page.goto(`${host}${BASE}${path}`, { waitUntil: 'networkidle' });
      },
      keep: async (name) => {
        mkdirSync(PICTURES, { recursive: true });
        await page.screenshot({ path: `${PICTURES}${name}.png` });
      },
    };
  };
}

/** The rules for accessibility that a page breaks. */
export async function violationsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const { violations } = await page.evaluate<{
    readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[];
  }>("axe.run({ resultTypes: ['violations'] })");
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
}
