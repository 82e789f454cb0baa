/** A person with a browser: keeps cookies, follows redirects, fills in forms. */
export class Person {
  readonly #cookies = new Map<string, string>();

  /** Opens a page and confirms everything. Ends at the first address of another server, or at a page without a form. */
  async agree(url: string, fields: Readonly<Record<string, string>> = {}): Promise<string> {
    const { origin } = new URL(url);
    let at = url;
    let page = await this.#open(at);
    for (let step = 0; step < 30; step++) {
      const location = page.headers.get('location');
      if (location !== null) {
        at = new URL(location, at).href;
        if (new URL(at).origin !== origin) return at;
        page = await this.#open(at);
        continue;
      }
      const html = await page.text();
      const form = /<form[^>]*action="([^"]*)"[^>]*>(.*?)<\/form>/s.exec(html);
      if (form === null) return at;
      const inputs = Array.from((form[2] ?? '').matchAll(/<input[^>]*>/g), ([input]) => input);
      const values = inputs.map((input) => [attribute(input, 'name'), attribute(input, 'value')] as const);
      const named = values.filter(([name]) => name !== '');
      const filled = named.map(([name, value]) => [name, value || (fields[name] ?? 'ada')]);
      at = new URL((form[1] ?? '').replaceAll('&amp;', '&'), at).href;
      page = await this.#open(at, new URLSearchParams(filled as [string, string][]));
    }
    throw new Error(`no end of pages at ${at}`);
  }

  async #open(url: string, form?: URLSearchParams): Promise<Response> {
    const cookie = Array.from(this.#cookies, ([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie, accept: 'text/html' },
      ...(form && { method: 'POST', body: form }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      this.#cookies.set(name, value);
    }
    return response;
  }
}

function attribute(input: string, name: string): string {
  return new RegExp(`\\b${name}="([^"]*)"`).exec(input)?.[1] ?? '';
}
