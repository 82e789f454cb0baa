import { useSignal } from '@preact/signals';
import type { Part } from 'parley-a2a';
import { useEffect } from 'preact/hooks';
import { questionsOf } from '../questions.js';
import { fragmentOf } from '../route.js';
import { agoOf, shownName } from '../shown-name.js';
import { viewOf } from '../task-view.js';
import { type WaitingTask, WaitingWatch } from '../waiting-tasks.js';
import { Empty, Failure, PageTitle, StateLabel } from './controls.js';
import { AskedText, Questions } from './questions.js';

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
  readonly answer: (parts: readonly Part[]) => Promise<void>;
}

function Waiting({ waiting: { agent, task }, answer }: WaitingShape) {
  const failure = useSignal<string | undefined>(undefined);
  const isSent = useSignal(false);
  const { id, status } = task;
  const questions = questionsOf(viewOf(task));
  const send = async (sent: readonly Part[]): Promise<void> => {
    if (isSent.value) return;
    failure.value = undefined;
    isSent.value = true;
    try {
      await answer(sent);
    } catch (error) {
      failure.value = (error as Error).message;
    } finally {
      isSent.value = false;
    }
  };
  return (
    <article class="box" aria-busy={isSent.value}>
      <p class="facts">
        <StateLabel state={status.state} />
        <a href={fragmentOf({ page: 'chat', agent: agent.path })}>
          <bdi>{shownName(agent.card.name, 60)}</bdi>
        </a>
        <a href={fragmentOf({ page: 'tasks', agent: agent.path, id })}>Task and timeline</a>
        <span>{agoOf(status.timestamp, Date.now())}</span>
      </p>
      <AskedText parts={status.message?.parts ?? []} questions={questions} />
      {questions.length > 0 ? (
        <Questions questions={questions} send={(_, data) => void send(data)} />
      ) : (
        <TextAnswer send={(text) => void send([{ text }])} />
      )}
      {failure.value !== undefined && <Failure>{failure.value}</Failure>}
    </article>
  );
}

function TextAnswer({ send }: { readonly send: (text: string) => void }) {
  const text = useSignal('');
  const submit = (event: Event): void => {
    event.preventDefault();
    if (text.value.trim() !== '') send(text.value.trim());
  };
  return (
    <form class="search" onSubmit={submit}>
      <input
        type="text"
        aria-label="Your answer"
        placeholder="Your answer"
        value={text.value}
        onInput={({ currentTarget }) => {
          text.value = currentTarget.value;
        }}
      />
      <button type="submit" class="primary">
        Answer
      </button>
    </form>
  );
}
