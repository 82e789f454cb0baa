import type { ExchangeResponse } from '../../../bindings/http/exchange.js';
import { sha256 } from '../../../runtime/sha256.js';
import { STYLE } from './style.js';

/**
 * A page with the style of all pages. Its policy allows that style by its hash and images that stand in the page. The
 * page loads nothing, runs nothing, and no other page shows it in a frame.
 */
export async function pageAnswer(body: string): Promise<ExchangeResponse> {
  const style = `'sha256-${btoa(String.fromCharCode(...(await sha256(STYLE))))}'`;
  const nothing = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': `${nothing}; style-src ${style}; img-src data:`,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  };
  return { status: 200, headers, body };
}
