import { useSignal } from '@preact/signals';
import type { Artifact, Message, Task } from 'parley-a2a';
import { traceIdOf, usageIn } from 'parley-a2a/client';
import { useEffect } from 'preact/hooks';
import { type Agent, traceUrl } from '../agents.js';
import { fragmentOf } from '../route.js';
import { agoOf, shownName, shownText } from '../shown-name.js';
import { taskSnippets } from '../snippets.js';
import { isEnded, isWaiting, type TaskView } from '../task-view.js';
import { TaskWatch, type WatchedTask } from '../task-watch.js';
import { Answering } from './answering.js';
import { CopyButton, Empty, Failure, Json, PageTitle, StateLabel } from './controls.js';
import { EventList } from './event-list.js';
import { InboxButton } from './inbox-page.js';
import { Parts } from './parts.js';

/** A task: its state, timeline, artifacts, history and record. */
export function TaskPage({ agent, id }: { readonly agent: Agent; readonly id: string }) {
  const watch = useSignal<TaskWatch | undefined>(undefined);
  useEffect(() => {
    const started = new TaskWatch(agent, id);
    watch.value = started;
    return () => started.close();
  }, [agent, id, watch]);
  const watched = watch.value?.state.value;
  return (
    <div class="page">
      <header class="page-head">
        <p class="crumbs">
          <a href={fragmentOf({ page: 'tasks', agent: agent.path })}>Tasks</a>
        </p>
        <PageTitle>
          Task <code>{shownName(id, 60)}</code>
        </PageTitle>
      </header>
      {watched?.view !== undefined && <Head agent={agent} watch={watch.value} view={watched.view} watched={watched} />}
      {watched?.failure !== undefined && <Failure>{watched.failure}</Failure>}
      {watched?.interruption !== undefined && (
        <p class="interruption" role="status">
          {watched.interruption}
        </p>
      )}
      {watched?.view !== undefined && <Contents agent={agent} watched={watched} view={watched.view} id={id} />}
    </div>
  );
}

interface HeadShape {
  readonly agent: Agent;
  readonly watch: TaskWatch | undefined;
  readonly view: TaskView;
  readonly watched: WatchedTask;
}

function Head({ agent, watch, view, watched }: HeadShape) {
  const { state, timestamp, contextId } = view;
  const traceId = watched.task && traceIdOf(watched.task);
  return (
    <>
      <p class="facts">
        <StateLabel state={state} />
        <span>changed {agoOf(timestamp, Date.now())}</span>
        {contextId !== undefined && (
          <span>
            Context <code>{shownName(contextId, 60)}</code>
          </span>
        )}
        {traceId !== undefined && <Trace id={traceId} />}
        <Tokens task={watched.task} />
      </p>
      <p class="actions">
        {!isEnded(state) && (
          <button type="button" onClick={() => void watch?.cancel()}>
            Cancel the task
          </button>
        )}
        {watched.isLive && (
          <button type="button" onClick={() => agent.connections.cut()}>
            Drop the connection
          </button>
        )}
        {!isEnded(state) && agent.card.capabilities.pushNotifications === true && (
          <InboxButton agent={agent} id={view.id} />
        )}
      </p>
      {isWaiting(state) && watch !== undefined && (
        <section class="box" aria-label="Your answer">
          <Answering view={view} answer={(parts) => watch.answer(parts)} />
        </section>
      )}
    </>
  );
}

/** The trace of a task, with a link if the operator has configured a tracing tool. */
function Trace({ id }: { readonly id: string }) {
  const url = traceUrl.value?.replace('{traceId}', id);
  const shown = <code>{id}</code>;
  return (
    <span>
      Trace{' '}
      {url === undefined ? (
        shown
      ) : (
        <a href={url} target="_blank" rel="noreferrer">
          {shown}
        </a>
      )}
    </span>
  );
}

/** The tokens of the models, as reported by the agent. */
function Tokens({ task }: { readonly task: Task | undefined }) {
  const usage = usageIn(task?.metadata);
  if (usage === undefined) return null;
  const { inputTokens, outputTokens, cachedInputTokens, calledTokens } = usage;
  const formatCount = (count: number) => count.toLocaleString('en');
  return (
    <span>
      Tokens {formatCount(inputTokens)} in
      {cachedInputTokens > 0 && ` (${formatCount(cachedInputTokens)} cached)`}, {formatCount(outputTokens)} out
      {calledTokens > 0 && `, ${formatCount(calledTokens)} by called agents`}
    </span>
  );
}

interface ContentsShape {
  readonly agent: Agent;
  readonly watched: WatchedTask;
  readonly view: TaskView;
  readonly id: string;
}

function Contents({ agent, watched, view, id }: ContentsShape) {
  const { task } = watched;
  return (
    <>
      <Timeline watched={watched} isOver={isEnded(view.state)} />
      <section aria-labelledby="artifacts">
        <h2 id="artifacts">Artifacts</h2>
        {view.artifacts.length === 0 ? (
          <p>{isEnded(view.state) ? 'The task made none.' : 'None yet. They appear here as they grow.'}</p>
        ) : (
          view.artifacts.map((artifact) => <ArtifactView key={artifact.artifactId} artifact={artifact} />)
        )}
        {view.message !== undefined && (
          <>
            <h3>Last message of the agent</h3>
            <Parts parts={view.message.parts} />
          </>
        )}
      </section>
      {task !== undefined && <History task={task} />}
      <Calls agent={agent} id={id} />
      {task !== undefined && (
        <section aria-labelledby="record">
          <h2 id="record">Record</h2>
          <details class="fold">
            <summary>Show JSON</summary>
            <Json value={task} label="Record of the task" />
          </details>
        </section>
      )}
    </>
  );
}

function Timeline({ watched, isOver }: { readonly watched: WatchedTask; readonly isOver: boolean }) {
  const { events, count, isLive, breaks, hasGap } = watched;
  return (
    <section aria-labelledby="timeline">
      <h2 id="timeline">Timeline</h2>
      <p class="facts" role="status">
        <span class={isLive ? 'live' : ''}>{isLive ? 'Live' : isOver ? 'Ended' : 'Not live'}</span>
        <span>{count === 1 ? '1 event' : `${count} events`}</span>
        {count > events.length && <span>The page keeps the latest {events.length}</span>}
        {count > 0 && <span>{hasGap ? 'Events are missing' : 'No gap'}</span>}
        {breaks > 0 && <span>{breaks === 1 ? 'Resumed once' : `Resumed ${breaks} times`}</span>}
      </p>
      {count === 0 ? (
        <Empty title={isLive ? 'Waiting for events' : 'No events are kept'}>
          {isLive
            ? 'They appear here as the agent works.'
            : 'The agent keeps the events of a task for a time after its end. Its artifacts and history are below.'}
        </Empty>
      ) : (
        <EventList events={events} count={count} />
      )}
    </section>
  );
}

function ArtifactView({ artifact }: { readonly artifact: Artifact }) {
  const { artifactId, name, description, parts } = artifact;
  return (
    <article class="artifact box">
      <p class="artifact-name">
        <bdi>{shownName(name ?? artifactId)}</bdi>
      </p>
      {description !== undefined && <p dir="auto">{shownText(description.slice(0, 1_000))}</p>}
      <Parts parts={parts} />
    </article>
  );
}

function History({ task: { history = [] } }: { readonly task: Task }) {
  return (
    <section aria-labelledby="history">
      <h2 id="history">History</h2>
      {history.length === 0 && <p>The agent gives no messages of this task.</p>}
      <ol class="history">
        {history.slice(-200).map((message: Message) => (
          <li key={message.messageId}>
            <span class="speaker">{message.role === 'ROLE_USER' ? 'You' : 'Agent'}</span>
            <div>
              <Parts parts={message.parts} />
            </div>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Calls({ agent, id }: { readonly agent: Agent; readonly id: string }) {
  const { curl, cli, typescript } = taskSnippets(agent, id);
  const forms = [
    ['curl', curl],
    ['Command line', cli],
    ['TypeScript', typescript],
  ] as const;
  return (
    <section aria-labelledby="calls">
      <h2 id="calls">Get this task elsewhere</h2>
      <div class="cards">
        {forms.map(([name, text]) => text !== undefined && <Snippet key={name} name={name} text={text} />)}
      </div>
    </section>
  );
}

function Snippet({ name, text }: { readonly name: string; readonly text: string }) {
  return (
    <div class="box snippet">
      <h3>{name}</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls takes the focus. */}
      <pre tabIndex={0}>{text}</pre>
      <CopyButton text={text} label={`Copy ${name}`} />
    </div>
  );
}
