import type { AgentCard, AgentSkill } from 'parley-a2a';
import type { Agent } from '../agents.js';
import { newConversation, say } from '../conversing.js';
import { followedUrl } from '../markdown-inline.js';
import { goTo } from '../route.js';
import { shownName, shownText } from '../shown-name.js';
import { CardProblemList, ExtendedCard, Signatures } from './card-checks.js';
import { CopyButton, Json, PageTitle } from './controls.js';
import { OutsideLink } from './markdown.js';

/** The card of an agent as a person reads it. */
export function CardPage({ agent }: { readonly agent: Agent }) {
  const { card, published } = agent;
  return (
    <div class="page">
      <header class="page-head">
        <PageTitle>
          <bdi>{shownName(card.name)}</bdi> <small>{shownName(card.version, 40)}</small>
        </PageTitle>
        <p class="lead" dir="auto">
          {shownText(card.description.slice(0, 2_000))}
        </p>
        <Origin agent={agent} />
      </header>
      <section aria-labelledby="skills">
        <h2 id="skills">Skills</h2>
        {card.skills.length === 0 && <p>The card names none. Send a message to see what the agent does.</p>}
        <div class="cards">
          {card.skills.map((skill) => (
            <Skill key={skill.id} agent={agent} skill={skill} />
          ))}
        </div>
      </section>
      <Interfaces card={card} />
      <Capabilities card={card} />
      <Security card={card} />
      {card.capabilities.extendedAgentCard === true && <ExtendedCard agent={agent} />}
      <CardProblemList card={published} />
      <section aria-labelledby="raw">
        <h2 id="raw">Raw card</h2>
        <details class="fold">
          <summary>Show JSON</summary>
          <Json value={published} label="JSON of the card" />
        </details>
      </section>
    </div>
  );
}

function Origin({ agent }: { readonly agent: Agent }) {
  const { provider, documentationUrl } = agent.card;
  const links = [
    [provider?.organization, provider?.url],
    ['Documentation', documentationUrl],
  ] as const;
  return (
    <p class="facts">
      {links.map(([name, url]) => {
        const followed = url === undefined ? undefined : followedUrl(url);
        if (name === undefined || followed === undefined) return undefined;
        return (
          <OutsideLink key={name} url={followed}>
            {shownName(name, 80)}
          </OutsideLink>
        );
      })}
      <Signatures agent={agent} />
    </p>
  );
}

function Skill({ agent, skill }: { readonly agent: Agent; readonly skill: AgentSkill }) {
  const { name, description, tags, examples = [] } = skill;
  const start = (text: string): void => {
    const conversation = newConversation(agent);
    void say(agent, conversation, { text: text });
    goTo({ page: 'chat', agent: agent.path, id: conversation.id });
  };
  return (
    <article class="box">
      <h3>
        <bdi>{shownName(name)}</bdi>
      </h3>
      <p dir="auto">{shownText(description.slice(0, 2_000))}</p>
      {tags.length > 0 && (
        <ul class="tags" aria-label="Tags">
          {tags.slice(0, 20).map((tag) => (
            <li key={tag}>
              <bdi>{shownName(tag, 40)}</bdi>
            </li>
          ))}
        </ul>
      )}
      {examples.length > 0 && (
        <ul class="examples" aria-label="Examples to send">
          {examples.slice(0, 20).map((example) => (
            <li key={example}>
              <button type="button" onClick={() => start(example)}>
                <bdi>{shownName(example, 200)}</bdi>
              </button>
            </li>
          ))}
        </ul>
      )}
    </article>
  );
}

function Interfaces({ card }: { readonly card: AgentCard }) {
  return (
    <section aria-labelledby="interfaces">
      <h2 id="interfaces">Interfaces</h2>
      <ul class="rows">
        {card.supportedInterfaces.map(({ url, protocolBinding, protocolVersion }) => (
          <li key={`${protocolBinding}${protocolVersion}${url}`}>
            <span class="binding">{shownName(protocolBinding, 40)}</span>
            <span class="version">{shownName(protocolVersion, 20)}</span>
            <code>{shownName(url, 300)}</code>
            <CopyButton text={url} label="Copy" />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Capabilities({ card }: { readonly card: AgentCard }) {
  const { streaming, pushNotifications, extendedAgentCard, extensions = [] } = card.capabilities;
  const offers = [
    ['Streaming', streaming],
    ['Push notifications', pushNotifications],
    ['Extended card', extendedAgentCard],
  ] as const;
  return (
    <section aria-labelledby="capabilities">
      <h2 id="capabilities">Capabilities</h2>
      <dl class="pairs">
        {offers.map(([name, offered]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{offered === true ? 'Yes' : 'No'}</dd>
          </div>
        ))}
        <div>
          <dt>Takes</dt>
          <dd>{shownName(card.defaultInputModes.join(', ') || 'Everything', 300)}</dd>
        </div>
        <div>
          <dt>Gives</dt>
          <dd>{shownName(card.defaultOutputModes.join(', ') || 'Everything', 300)}</dd>
        </div>
      </dl>
      {extensions.length > 0 && (
        <>
          <h3>Extensions</h3>
          <ul class="rows">
            {extensions.map(({ uri = '', description = '', required }) => (
              <li key={uri}>
                <code>{shownName(uri, 200)}</code>
                <span class="grow">{shownName(description, 300)}</span>
                {required === true && <span class="tag">required</span>}
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

function Security({ card }: { readonly card: AgentCard }) {
  const { securitySchemes = {}, securityRequirements = [] } = card;
  const names = Object.keys(securitySchemes);
  return (
    <section aria-labelledby="security">
      <h2 id="security">Security</h2>
      {names.length === 0 && <p>The card asks for no credential.</p>}
      <ul class="rows">
        {names.map((name) => {
          const [kind = 'unknown', scheme] = Object.entries(securitySchemes[name] ?? {})[0] ?? [];
          const { description = '' } = (scheme ?? {}) as { readonly description?: string };
          const isRequired = securityRequirements.some(({ schemes = {} }) => name in schemes);
          return (
            <li key={name}>
              <code>{shownName(name, 80)}</code>
              <span>{kind.replace('SecurityScheme', '')}</span>
              <span class="grow">{shownName(description, 300)}</span>
              {isRequired && <span class="tag">required</span>}
            </li>
          );
        })}
      </ul>
    </section>
  );
}
