import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { fragmentOf } from '../route.js';
import { agoOf, shownName } from '../shown-name.js';
import { viewOf } from '../task-view.js';
import { type WaitingTask, WaitingWatch } from '../waiting-tasks.js';
import { Answering, type SendParts } from './answering.js';
import { Empty, Failure, PageTitle, StateLabel } from './controls.js';

/** The questions, approvals and authorizations of all agents that wait for the user. */
export function WaitingPage() {
  const watch = useSignal<WaitingWatch | undefined>(undefined);
  useEffect(() => {
    const started = new WaitingWatch();
    watch.value = started;
    return () => started.close();
  }, [watch]);
  const { tasks, locked = [], failures = [] } = watch.value?.state.value ?? {};
  return (
    <div class="page">
      <header class="page-head">
        <PageTitle>Waiting for me</PageTitle>
        <p class="facts">
          <span>{tasks === undefined ? 'Loading' : `${tasks.length} ${tasks.length === 1 ? 'task' : 'tasks'}`}</span>
          <span>Updated live</span>
        </p>
      </header>
      {failures.map((failure) => (
        <Failure key={failure}>{shownName(failure, 400)}</Failure>
      ))}
      {locked.length > 0 && (
        <p>
          Not asked before you sign in:{' '}
          {locked.map(({ path, card }) => (
            <a key={path} href={fragmentOf({ page: 'tasks', agent: path })}>
              <bdi>{shownName(card.name, 60)}</bdi>
            </a>
          ))}
        </p>
      )}
      {tasks?.length === 0 && (
        <Empty title="Nothing waits for you">Questions, approvals and authorizations of all agents appear here.</Empty>
      )}
      <ul class="waiting-tasks" aria-label="Waiting tasks">
        {tasks?.map((one) => (
          <li key={`${one.agent.path} ${one.task.id}`}>
            <Waiting waiting={one} answer={async (parts) => watch.value?.answer(one, parts)} />
          </li>
        ))}
      </ul>
    </div>
  );
}

interface WaitingShape {
  readonly waiting: WaitingTask;
  readonly answer: SendParts;
}

function Waiting({ waiting: { agent, task }, answer }: WaitingShape) {
  const { id, status } = task;
  return (
    <article class="box">
      <p class="facts">
        <StateLabel state={status.state} />
        <a href={fragmentOf({ page: 'chat', agent: agent.path })}>
          <bdi>{shownName(agent.card.name, 60)}</bdi>
        </a>
        <a href={fragmentOf({ page: 'tasks', agent: agent.path, id })}>Task and timeline</a>
        <span>{agoOf(status.timestamp, Date.now())}</span>
      </p>
      <Answering view={viewOf(task)} answer={answer} />
    </article>
  );
}
