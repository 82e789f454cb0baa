import type { ExchangeResponse } from '../bindings/http/exchange.js';
import { PROTOCOL_VERSIONS } from '../codec/protocol-versions.js';
import type { AgentCard, AgentSkill } from '../model/agent-card.js';
import type { AgentMount } from './agent-mount.js';
import { asMarkup, html, type Markup } from './openapi/page/markup.js';
import { pageAnswer } from './openapi/page/page-answer.js';
import { STYLE } from './openapi/page/style.js';

/** The agents of a page, and the addresses around them. */
export interface LandingPage {
  readonly mounts: readonly AgentMount[];
  readonly base: string;
  /** True if the server describes itself at `/docs`. */
  readonly documented: boolean;
  /** True if the page shows one of several agents, and leads to all of them. */
  readonly partial: boolean;
}

/** The mounts with the simplest agent first: the one that offers the least, in the fewest versions. */
export function simplestFirst(mounts: readonly AgentMount[]): readonly AgentMount[] {
  const offer = (mount: AgentMount) => {
    const { capabilities, skills } = mount.card('');
    const { streaming, pushNotifications, extendedAgentCard } = capabilities;
    const offered = [streaming, pushNotifications, extendedAgentCard].filter((one) => one === true).length;
    return 100 * offered + 10 * mount.versions.length + Math.min(skills.length, 9);
  };
  return [...mounts].sort((one, other) => offer(one) - offer(other));
}

/** A page for people who open the address of a server or of an agent in a browser. Loaded when a browser asks. */
export function landingAnswer(page: LandingPage): Promise<ExchangeResponse> {
  return pageAnswer(landingPage(page));
}

function landingPage(page: LandingPage): string {
  const title = titleOf(page);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="${ICON}">
<style>${asMarkup(STYLE)}</style>
</head>
<body class="landing">
<main>
${agentsMarkup(page)}
</main>
</body>
</html>
`.text;
}

function titleOf({ mounts, base }: Pick<LandingPage, 'mounts' | 'base'>): string {
  const [first] = mounts;
  return first !== undefined && mounts.length === 1 ? first.card(base).name : 'Agents';
}

/** The agents with their skills, calls and addresses, under a title. */
export function agentsMarkup(page: LandingPage): Markup {
  const { mounts, base, documented, partial } = page;
  return html`<h1>${titleOf(page)}</h1>
<p>${mounts.length === 1 ? 'An agent' : 'The agents'} of this server. Programs call ${mounts.length === 1 ? 'it' : 'them'} over the Agent2Agent (A2A) protocol.
${documented ? html`Every operation is described at <a href="${base}/docs">/docs</a>.` : ''}
${partial ? html`<a href="${base}/">All agents of this server</a>.` : ''}</p>
${simplestFirst(mounts).map((mount) => agentMarkup(mount, base))}`;
}

function agentMarkup(mount: AgentMount, base: string): Markup {
  const card = mount.card(base);
  const { name, description, version, skills, supportedInterfaces } = card;
  return html`
<section>
<h2>${name} <small>${version}</small></h2>
<p>${description}</p>
${skills.length === 0 ? '' : html`<h3>Skills</h3><ul>${skills.map(skillMarkup)}</ul>`}
<h3>Try it</h3>
<pre tabindex="0"><code>${curl(mount, card, base)}</code></pre>
<h3>Addresses</h3>
<ul>
<li><a href="${base}${mount.cardPath}">Agent card</a></li>
${supportedInterfaces.map(
  ({ protocolBinding, protocolVersion, url }) =>
    html`<li>${protocolBinding} ${protocolVersion} <code>${url}</code></li>`,
)}
</ul>
</section>`;
}

function skillMarkup({ name, description, examples = [] }: AgentSkill): Markup {
  return html`<li><b>${name}</b> ${description}${examples.map((example) => html`<br><small>${example}</small>`)}</li>`;
}

/** The place of an id that the shell makes anew for each call. */
const NEW_ID = 'new-id';

/** A call that works as it stands: a message over the simplest binding, or else the card. */
function curl(mount: AgentMount, card: AgentCard, base: string): string {
  const route = PROTOCOL_VERSIONS['1.0'].httpJson.routes.find(({ operation }) => operation === 'sendMessage');
  const place = card.supportedInterfaces.find(
    ({ protocolBinding, protocolVersion }) => protocolBinding === 'HTTP+JSON' && protocolVersion === '1.0',
  );
  if (route === undefined || place === undefined) return `curl ${quoteWord(`${base}${mount.cardPath}`)}`;
  const text = card.skills[0]?.examples?.[0] ?? 'Hello';
  const message = { messageId: NEW_ID, role: 'ROLE_USER', parts: [{ text }] };
  return [
    `curl ${quoteWord(`${place.url}/${route.path.join('/')}`)}`,
    ...((card.securityRequirements ?? []).length > 0 ? ["  -H 'Authorization: …'"] : []),
    "  -H 'Content-Type: application/json'",
    "  -H 'A2A-Version: 1.0'",
    // A message that is sent again leads to the outcome of the first one.
    `  -d ${quoteWord(JSON.stringify({ message })).replace(NEW_ID, `'"$(date +%s)"'`)}`,
  ].join(' \\\n');
}

/** One word of a shell. */
function quoteWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0b5cad"/>' +
    '<path d="M6 9h14v9h-6l-4 4v-4H6z" fill="#fff"/><path d="M22 13h4v9h-4v4l-4-4h-5v-2h9z" fill="#9cc9ff"/></svg>',
)}`;
