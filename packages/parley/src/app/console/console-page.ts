import type { ExchangeResponse } from '../../bindings/http/exchange.js';
import type { HostView } from '../host-extension.js';
import { agentsMarkup } from '../landing-page.js';
import { html } from '../openapi/page/markup.js';
import type { ConsoleFiles } from './console-files.js';

/** The facts of a page of the console. */
interface ConsolePage {
  readonly files: ConsoleFiles;
  readonly host: HostView;
  readonly base: string;
  /** The path of the folder of the files. */
  readonly folder: string;
}

/**
 * The policy of the page: scripts, styles and calls of its own origin only, nothing inline, and no text becomes markup.
 * Pictures and sounds that its user opens are in the page already.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' blob:",
  'media-src blob:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** The document that loads the console. Without scripts it shows the agents, unless the host is protected. */
export function consolePage({ files, host, base, folder }: ConsolePage): ExchangeResponse {
  const isOpen = host.authenticatorsAt('/').length === 0;
  const page = { mounts: host.mounts, base, documented: host.serves('/docs'), partial: false };
  // Bundlers rewrite a template that ends a script. So the name of the element is inserted.
  const body = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Parley console</title>
<link rel="icon" href="${folder}/${files.icon}">
<link rel="stylesheet" href="${folder}/${files.style}">
${files.preloads.map((name) => html`<link rel="modulepreload" href="${folder}/${name}">`)}
<script type="module" src="${folder}/${files.script}"></${'script'}>
</head>
<body>
<div id="console"></div>
<noscript><main class="plain">${isOpen ? agentsMarkup(page) : html`<p>The console needs scripts.</p>`}</main></noscript>
</body>
</html>
`.text;
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': POLICY,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=()',
    'cache-control': 'no-cache',
    vary: 'Accept, Sec-Fetch-Dest',
  };
  return { status: 200, headers, body };
}
