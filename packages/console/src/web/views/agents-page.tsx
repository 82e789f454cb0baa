import { agents } from '../agents.js';
import { fragmentOf } from '../route.js';
import { shownName } from '../shown-name.js';
import { Empty, PageTitle } from './controls.js';

/** The agents of the server. */
export function AgentsPage() {
  const all = agents.value ?? [];
  return (
    <div class="page">
      <header class="page-head">
        <PageTitle>Agents</PageTitle>
        <p class="lead">Choose an agent to talk to it, to read its card, or to see its tasks.</p>
      </header>
      {all.length === 0 && <Empty title="No agents">This server serves no agent.</Empty>}
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
    </div>
  );
}
