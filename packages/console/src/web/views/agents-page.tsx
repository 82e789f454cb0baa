import { agents, failedAgents, loadAgents } from '../agents.js';
import { fragmentOf } from '../route.js';
import { shownName } from '../shown-name.js';
import { Empty, Failure, PageTitle } from './controls.js';

/** The agents of the server. */
export function AgentsPage() {
  const all = agents.value ?? [];
  return (
    <div class="page">
      <header class="page-head">
        <PageTitle>Agents</PageTitle>
        <p class="lead">Choose an agent to talk to it, to read its card, or to see its tasks.</p>
      </header>
      {all.length + failedAgents.value.length === 0 && <Empty title="No agents">This server serves no agent.</Empty>}
      <div class="cards">
        {all.map(({ path, card }) => (
          <article key={path} class="box">
            <h2>
              <a href={fragmentOf({ page: 'chat', agent: path })}>
                <bdi>{shownName(card.name)}</bdi>
              </a>
            </h2>
            <p dir="auto">{shownName(card.description, 300)}</p>
            <p class="facts">
              <code>{shownName(path, 60)}</code>
              <a href={fragmentOf({ page: 'card', agent: path })}>Card</a>
              <a href={fragmentOf({ page: 'tasks', agent: path })}>Tasks</a>
            </p>
          </article>
        ))}
      </div>
      <FailedAgents />
    </div>
  );
}

function FailedAgents() {
  const failed = failedAgents.value;
  if (failed.length === 0) return null;
  return (
    <section aria-labelledby="failed-agents">
      <h2 id="failed-agents">Agents without a readable card</h2>
      {failed.map(({ path, failure }) => (
        <Failure key={path}>
          <code>{shownName(path, 60)}</code>: {shownName(failure, 300)}
        </Failure>
      ))}
      <button type="button" onClick={() => void loadAgents()}>
        Try again
      </button>
    </section>
  );
}
