import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import {
  type Agent,
  agents,
  agentsFailure,
  currentAgent,
  failedAgents,
  hasOperatorApi,
  loadAgents,
  needsSignIn,
  signOut,
} from './agents.js';
import { conversations, removeConversation } from './conversation-store.js';
import { fragmentOf, goTo, type PageName, route } from './route.js';
import { shownName } from './shown-name.js';
import { THEMES, theme } from './theme.js';
import { AgentsPage } from './views/agents-page.js';
import { CardPage } from './views/card-page.js';
import { ChatPage } from './views/chat-page.js';
import { ComparePage } from './views/compare-page.js';
import { Empty, Failure } from './views/controls.js';
import { InboxPage } from './views/inbox-page.js';
import { OperatorPage } from './views/operator-page.js';
import { SignIn } from './views/sign-in.js';
import { TaskPage } from './views/task-page.js';
import { TasksPage } from './views/tasks-page.js';
import { WaitingPage } from './views/waiting-page.js';
import { WirePage } from './views/wire-page.js';

/** The whole console: navigation beside the current page. */
export function App() {
  const isOpen = useSignal(false);
  const place = route.value;
  const only = agents.value?.length === 1 && failedAgents.value.length === 0 ? agents.value[0] : undefined;
  useEffect(() => {
    isOpen.value = false;
    if (place.page === 'agents' && only !== undefined) goTo({ page: 'chat', agent: only.path });
  }, [place, only, isOpen]);
  const agent = currentAgent.value;
  useEffect(() => {
    document.title = agent === undefined ? 'Parley console' : `${shownName(agent.card.name, 60)} – Parley console`;
  }, [agent]);
  return (
    <div class={`shell${isOpen.value ? ' menu-open' : ''}`}>
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the content
      </button>
      <header class="bar">
        <button
          type="button"
          class="menu-button"
          aria-expanded={isOpen.value}
          aria-controls="menu"
          onClick={() => {
            isOpen.value = !isOpen.value;
          }}
        >
          Menu
        </button>
        <a class="brand" href="#/">
          Parley
        </a>
      </header>
      <nav id="menu" class="menu" aria-label="Console">
        <Menu agent={agent} />
      </nav>
      <main id="main" class="main" tabIndex={-1}>
        <Content agent={agent} />
      </main>
    </div>
  );
}

function Content({ agent }: { readonly agent: Agent | undefined }) {
  const place = route.value;
  if (agentsFailure.value !== undefined) {
    return (
      <div class="page">
        <Failure>{agentsFailure.value}</Failure>
        <button type="button" onClick={() => void loadAgents()}>
          Try again
        </button>
      </div>
    );
  }
  if (agents.value === undefined) return <p class="page">Loading the agents</p>;
  if (place.page === 'operator') return <OperatorPage />;
  if (!('agent' in place)) return place.page === 'agents' ? <AgentsPage /> : <WaitingPage />;
  if (agent === undefined) {
    if (failedAgents.value.some(({ path }) => path === place.agent)) return <AgentsPage />;
    return (
      <div class="page">
        <Empty title="No such agent">
          This server has no agent at {shownName(place.agent, 60)}. <a href="#/">Choose one of its agents.</a>
        </Empty>
      </div>
    );
  }
  if (place.page === 'card') return <CardPage key={agent.path} agent={agent} />;
  if (place.page === 'wire') return <WirePage key={agent.path} agent={agent} />;
  if (needsSignIn(agent)) return <SignIn key={agent.path} agent={agent} />;
  if (place.page === 'inbox') return <InboxPage key={agent.path} agent={agent} />;
  if (place.page === 'compare') return <ComparePage key={agent.path} agent={agent} />;
  const { page, id } = place;
  if (page === 'chat') return <ChatPage key={agent.path} agent={agent} id={id} />;
  if (id !== undefined) return <TaskPage key={`${agent.path} ${id}`} agent={agent} id={id} />;
  return <TasksPage key={agent.path} agent={agent} />;
}

const PAGES: readonly (readonly [PageName, string])[] = [
  ['chat', 'Conversation'],
  ['tasks', 'Tasks'],
  ['card', 'Agent card'],
  ['wire', 'Wire'],
  ['inbox', 'Push inbox'],
  ['compare', 'Compare bindings'],
];

function Menu({ agent }: { readonly agent: Agent | undefined }) {
  const place = route.value;
  const all = agents.value ?? [];
  return (
    <>
      <a class="brand" href="#/">
        Parley
      </a>
      {all.length > 0 && (
        <label class="field">
          Agent
          <select
            value={agent?.path ?? ''}
            onChange={({ currentTarget }) => {
              goTo(currentTarget.value === '' ? { page: 'agents' } : { page: 'chat', agent: currentTarget.value });
            }}
          >
            <option value="">All agents</option>
            {all.map(({ path, card }) => (
              <option key={path} value={path}>
                {shownName(card.name, 60)}
              </option>
            ))}
          </select>
        </label>
      )}
      {all.length > 0 && (
        <ul class="pages">
          <li>
            <a href={fragmentOf({ page: 'waiting' })} aria-current={place.page === 'waiting' ? 'page' : undefined}>
              Waiting for me
            </a>
          </li>
          {hasOperatorApi.value && (
            <li>
              <a href={fragmentOf({ page: 'operator' })} aria-current={place.page === 'operator' ? 'page' : undefined}>
                Operator
              </a>
            </li>
          )}
        </ul>
      )}
      {agent !== undefined && (
        <>
          <ul class="pages">
            {PAGES.map(([page, name]) => (
              <li key={page}>
                <a
                  href={fragmentOf({ page, agent: agent.path })}
                  aria-current={place.page === page ? 'page' : undefined}
                >
                  {name}
                </a>
              </li>
            ))}
          </ul>
          <Conversations agent={agent} />
        </>
      )}
      <div class="menu-foot">
        {agent?.credential !== undefined && (
          <button type="button" onClick={() => signOut(agent)}>
            Sign out
          </button>
        )}
        <label class="field">
          Theme
          <select
            value={theme.value}
            onChange={({ currentTarget }) => {
              theme.value = THEMES.find((one) => one === currentTarget.value) ?? 'auto';
            }}
          >
            <option value="auto">As the system</option>
            <option value="light">Light</option>
            <option value="dark">Dark</option>
          </select>
        </label>
      </div>
    </>
  );
}

function Conversations({ agent }: { readonly agent: Agent }) {
  const place = route.value;
  const current = place.page === 'chat' ? place.id : undefined;
  const own = conversations.value.filter((one) => one.agent === agent.path);
  return (
    <section class="conversations" aria-label="Conversations">
      <a class="button" href={fragmentOf({ page: 'chat', agent: agent.path })}>
        New conversation
      </a>
      <ul>
        {own.map(({ id, turns }) => {
          const title = shownName(turns[0]?.text ?? 'Conversation', 60);
          return (
            <li key={id}>
              <a
                href={fragmentOf({ page: 'chat', agent: agent.path, id })}
                aria-current={current === id ? 'true' : undefined}
              >
                <bdi>{title}</bdi>
              </a>
              <button
                type="button"
                class="quiet"
                aria-label={`Forget the conversation ${title}`}
                title="Forget it here. Its tasks stay on the server."
                onClick={() => {
                  removeConversation(id);
                  if (current === id) goTo({ page: 'chat', agent: agent.path });
                }}
              >
                ×
              </button>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
