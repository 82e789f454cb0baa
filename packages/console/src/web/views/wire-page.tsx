import type { Agent } from '../agents.js';
import { clockTime, shownJson, shownName, shownText } from '../shown-name.js';
import type { Header, WireCall, WireText } from '../wire-log.js';
import { CopyButton, Empty, focusable, PageTitle } from './controls.js';

/** The calls of this page to an agent, as they were sent and answered. */
export function WirePage({ agent }: { readonly agent: Agent }) {
  const { wire } = agent.connections;
  const calls = wire.calls.value;
  return (
    <div class="page">
      <header class="page-head">
        <PageTitle>Wire</PageTitle>
        <p class="lead">
          Each request and answer as sent, the latest first. Credentials are left out. The page keeps the latest 200
          calls, and the beginning of long bodies.
        </p>
        <p class="actions">
          <button type="button" onClick={() => wire.clear()}>
            Clear
          </button>
        </p>
      </header>
      {calls.length === 0 && <Empty title="No calls yet">Send a message, and its calls appear here.</Empty>}
      <ol class="rows wire" aria-label="Calls">
        {calls.map((call) => (
          <li key={call.number}>
            <Call call={call} />
          </li>
        ))}
      </ol>
    </div>
  );
}

function Call({ call }: { readonly call: WireCall }) {
  const { at, method, url, status, headMs, endMs, failure } = call;
  const path = URL.parse(url)?.pathname ?? url;
  return (
    <details class="fold">
      <summary>
        <span class="event-time">{clockTime(at)}</span> <code>{shownName(`${method} ${path}`, 100)}</code>{' '}
        <span>{operationOf(call)}</span> <span class="hint">{outcomeOf(status, failure)}</span>{' '}
        <span class="hint">{timesOf(headMs, endMs)}</span>
      </summary>
      {failure !== undefined && <p class="failure">{shownName(failure, 400)}</p>}
      <Side name="Request" first={`${method} ${url}`} headers={call.requestHeaders} body={call.requestBody} />
      {status !== undefined && <Side name="Answer" first={String(status)} headers={call.headers} body={call.body} />}
    </details>
  );
}

/** The operation of a call over JSON-RPC. For other calls, the path names it. */
function operationOf({ requestBody: { text } }: WireCall): string {
  const [, method] = /"method":"([\w/]{1,60})"/.exec(text.slice(0, 2_000)) ?? [];
  return method ?? '';
}

function outcomeOf(status: number | undefined, failure: string | undefined): string {
  if (failure !== undefined) return 'failed';
  return status === undefined ? 'no answer yet' : String(status);
}

function timesOf(head: number | undefined, end: number | undefined): string {
  if (head === undefined) return end === undefined ? '' : `after ${end} ms`;
  return end === undefined ? `answered after ${head} ms, open` : `answered after ${head} ms, ended after ${end} ms`;
}

interface SideShape {
  readonly name: string;
  readonly first: string;
  readonly headers: readonly Header[];
  readonly body: WireText;
}

/** The head and the beginning of the body of a request or an answer. */
export function Side({ name, first, headers, body }: SideShape) {
  const head = [first, ...headers.map(([field, value]) => `${field}: ${value}`)].join('\n');
  const more = body.length > body.text.length ? `\n… ${body.length} in all` : '';
  const text = `${shownText(head)}\n\n${shownJson(indentJson(body.text))}${more}`;
  return (
    <div class="json">
      <p class="artifact-name">{name}</p>
      <CopyButton text={text} label={`Copy ${name.toLowerCase()}`} />
      <section class="scroll" aria-label={name} {...focusable}>
        <pre class="text">{text}</pre>
      </section>
    </div>
  );
}

function indentJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}
