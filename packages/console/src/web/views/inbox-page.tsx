import { useSignal } from '@preact/signals';
import type { StreamResponse } from 'parley-a2a';
import { useEffect } from 'preact/hooks';
import { type Agent, failureOf } from '../agents.js';
import { type Delivery, type InboxState, inboxOf, refusalOf, unreachableReason } from '../push-inbox.js';
import { fragmentOf } from '../route.js';
import { clockTime, shownName } from '../shown-name.js';
import { eventLine } from '../task-view.js';
import { CopyButton, Empty, Failure, PageTitle } from './controls.js';
import { Side } from './wire-page.js';

/** Asks the agent of a task to send its notifications to the inbox. */
export function InboxButton({ agent, id }: { readonly agent: Agent; readonly id: string }) {
  const result = useSignal<'open' | 'sent' | undefined>(undefined);
  const failure = useSignal<string | undefined>(undefined);
  const register = async (): Promise<void> => {
    result.value = 'sent';
    failure.value = undefined;
    try {
      await inboxOf(agent).register(id);
      result.value = 'open';
    } catch (error) {
      result.value = undefined;
      failureOf(agent, error);
      failure.value = refusalOf(error);
    }
  };
  const inbox = fragmentOf({ page: 'inbox', agent: agent.path });
  return (
    <>
      {result.value === 'open' ? (
        <a class="button" href={inbox}>
          Open the push inbox
        </a>
      ) : (
        <button type="button" disabled={result.value === 'sent'} onClick={() => void register()}>
          Send notifications to the inbox
        </button>
      )}
      {failure.value !== undefined && <Failure>{shownName(failure.value, 600)}</Failure>}
    </>
  );
}

/** The push notifications that the server of this page has received. */
export function InboxPage({ agent }: { readonly agent: Agent }) {
  const inbox = inboxOf(agent);
  const state = inbox.state.value;
  const isOpen = state.inbox !== undefined;
  useEffect(() => {
    const left = new AbortController();
    if (isOpen) void inbox.follow(left.signal);
    return () => left.abort();
  }, [inbox, isOpen]);
  return (
    <div class="page">
      <header class="page-head">
        <PageTitle>Push inbox</PageTitle>
        <p class="lead">
          A webhook on this machine, which belongs to this tab. It shows the latest 200 push notifications, the latest
          first. Credentials are left out.
        </p>
        {state.inbox !== undefined && (
          <>
            <ul class="rows">
              <li>
                <code class="grow">{state.inbox.url}</code>
                <CopyButton text={state.inbox.url} label="Copy" />
              </li>
            </ul>
            <p class="actions">
              <button type="button" onClick={() => void inbox.failNext()}>
                Refuse the next notification
              </button>
              <span class="hint">The agent then tries again.</span>
            </p>
          </>
        )}
        {state.failure !== undefined && <Failure>{state.failure}</Failure>}
      </header>
      {state.count === 0 ? <NothingYet agent={agent} state={state} /> : <Deliveries state={state} />}
    </div>
  );
}

function NothingYet({ agent, state: { inbox } }: { readonly agent: Agent; readonly state: InboxState }) {
  const isSilent = useSignal(false);
  const since = inbox?.registeredAt;
  useEffect(() => {
    if (since === undefined) return undefined;
    const timer = setTimeout(
      () => {
        isSilent.value = true;
      },
      since + SILENT_MS - Date.now(),
    );
    return () => clearTimeout(timer);
  }, [since, isSilent]);
  if (agent.card.capabilities.pushNotifications !== true) {
    return <Empty title="No push notifications">The card of this agent does not offer them.</Empty>;
  }
  const unreachable = unreachableReason(agent);
  if (unreachable !== undefined) return <Empty title="The agent cannot reach this inbox">{unreachable}</Empty>;
  if (inbox === undefined) {
    return (
      <Empty title="No inbox yet">
        Open a running task and choose “Send notifications to the inbox”.{' '}
        <a href={fragmentOf({ page: 'tasks', agent: agent.path })}>Tasks</a>
      </Empty>
    );
  }
  return (
    <Empty title="Nothing has arrived yet">
      {isSilent.value
        ? 'The agent sends with the next event of the task. If the task has gone on, the agent does not reach this ' +
          `address: it may be on another machine, or not be allowed to call it. A2A_PUSH_ALLOW=${location.host} allows it.`
        : 'The agent sends with the next event of the task.'}
    </Empty>
  );
}

const SILENT_MS = 10_000;

function Deliveries({ state: { deliveries, count } }: { readonly state: InboxState }) {
  return (
    <>
      <p class="facts" role="status">
        {count === 1 ? '1 delivery' : `${count} deliveries`}
      </p>
      <ol class="rows wire" aria-label="Deliveries">
        {deliveries.map((delivery) => (
          <li key={delivery.number}>
            <DeliveryView delivery={delivery} />
          </li>
        ))}
      </ol>
    </>
  );
}

const SIGNATURES: Readonly<Record<Delivery['signature'], string>> = {
  absent: 'not signed',
  verified: 'signature verified',
  invalid: 'signature not valid',
  unchecked: 'signature not checked: the keys of the agent cannot be read',
};

function DeliveryView({ delivery }: { readonly delivery: Delivery }) {
  const { number, at, status, reason, attempt, isDuplicate, isLate, signature, signer, headers, body } = delivery;
  const facts = [
    attempt !== undefined && `attempt ${attempt}`,
    SIGNATURES[signature],
    isDuplicate && 'duplicate',
    isLate && 'after a later event',
    `answered ${status}`,
  ].filter((fact) => fact !== false);
  return (
    <details class="fold">
      <summary>
        <span class="event-number">{number}</span> <span class="event-time">{clockTime(at)}</span>{' '}
        <bdi>{shownName(lineOf(body.text), 120)}</bdi> <span class="hint">{facts.join(', ')}</span>
      </summary>
      {signer !== undefined && <p>Signed by {shownName(signer, 200)}</p>}
      {reason !== undefined && <p class="failure">{shownName(reason, 400)}</p>}
      <Side name="Request" first="POST" headers={headers} body={body} />
    </details>
  );
}

/** One line about the event of a notification. Empty for a body of 0.3, or a truncated one. */
function lineOf(text: string): string {
  try {
    // A refused notification may have other values instead of texts.
    return String(eventLine(JSON.parse(text) as StreamResponse));
  } catch {
    return 'Notification';
  }
}
