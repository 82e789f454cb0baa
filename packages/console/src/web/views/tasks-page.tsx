import { useSignal } from '@preact/signals';
import type { Task, TaskState } from 'parley-a2a';
import { useEffect } from 'preact/hooks';
import { type Agent, failureOf } from '../agents.js';
import { fragmentOf, goTo } from '../route.js';
import { agoOf, shownName } from '../shown-name.js';
import { type TaskList, TaskListWatch } from '../task-list.js';
import { SHOWN_STATES, stateName } from '../task-view.js';
import { Empty, Failure, PageTitle, StateLabel } from './controls.js';

/** The tasks of an agent: a live table with filters and a search. */
export function TasksPage({ agent }: { readonly agent: Agent }) {
  const status = useSignal<TaskState | undefined>(undefined);
  const contextId = useSignal<string | undefined>(undefined);
  const watch = useSignal<TaskListWatch | undefined>(undefined);
  const search = useSignal('');
  const notFound = useSignal<string | undefined>(undefined);
  useEffect(() => {
    const filter = { status: status.value, contextId: contextId.value };
    const started = new TaskListWatch(agent, filter);
    watch.value = started;
    return () => started.close();
  }, [agent, status.value, contextId.value, watch]);
  const list = watch.value?.state.value;
  const find = async (event: Event): Promise<void> => {
    event.preventDefault();
    const id = search.value.trim();
    if (id === '') return;
    notFound.value = undefined;
    try {
      const task = await (await agent.client()).getTask({ id, historyLength: 0 });
      goTo({ page: 'tasks', agent: agent.path, id: task.id });
    } catch (error) {
      notFound.value = `No task has this id: ${failureOf(agent, error)}`;
    }
  };
  return (
    <div class="page">
      <header class="page-head">
        <PageTitle>Tasks</PageTitle>
        <p class="facts">
          <span>{list?.tasks === undefined ? 'Loading' : `${list.total} ${list.total === 1 ? 'task' : 'tasks'}`}</span>
          <span>Updated live</span>
        </p>
      </header>
      <search>
        <form class="search" onSubmit={(event) => void find(event)}>
          <input
            type="search"
            aria-label="Find a task by its id"
            placeholder="Task id"
            value={search.value}
            onInput={({ currentTarget }) => {
              search.value = currentTarget.value;
              notFound.value = undefined;
            }}
          />
          <button type="submit">Open</button>
        </form>
      </search>
      {notFound.value !== undefined && <Failure>{notFound.value}</Failure>}
      {/* biome-ignore lint/a11y/useSemanticElements: buttons, not fields of a form. */}
      <div class="filters" role="group" aria-label="Filter by state">
        {[undefined, ...SHOWN_STATES].map((one) => (
          <button
            key={one ?? 'all'}
            type="button"
            aria-pressed={status.value === one}
            onClick={() => {
              status.value = one;
            }}
          >
            {one === undefined ? 'All' : stateName(one)}
          </button>
        ))}
      </div>
      {contextId.value !== undefined && (
        <p class="facts">
          <span>
            Only the context <code>{shownName(contextId.value, 60)}</code>
          </span>
          <button
            type="button"
            class="quiet"
            onClick={() => {
              contextId.value = undefined;
            }}
          >
            Show all contexts
          </button>
        </p>
      )}
      {list?.failure !== undefined && <Failure>The tasks could not be read: {list.failure}</Failure>}
      <Rows
        agent={agent}
        list={list}
        search={search.value.trim()}
        isFiltered={status.value !== undefined || contextId.value !== undefined}
        pickContext={(id) => {
          contextId.value = id;
        }}
      />
      {list !== undefined && list.nextPageToken !== '' && (list.tasks?.length ?? 0) < 100 && (
        <button type="button" onClick={() => watch.value?.more()}>
          Show more
        </button>
      )}
    </div>
  );
}

interface RowsShape {
  readonly agent: Agent;
  readonly list: TaskList | undefined;
  readonly search: string;
  readonly isFiltered: boolean;
  readonly pickContext: (id: string) => void;
}

function Rows({ agent, list, search, isFiltered, pickContext }: RowsShape) {
  const tasks = list?.tasks;
  if (tasks === undefined) return null;
  const shown = tasks.filter(({ id, contextId = '' }) => id.includes(search) || contextId.includes(search));
  if (shown.length === 0) {
    const isEmpty = tasks.length === 0 && !isFiltered;
    return (
      <Empty title={isEmpty ? 'No tasks yet' : 'No task fits'}>
        {isEmpty ? (
          <>
            <a href={fragmentOf({ page: 'chat', agent: agent.path })}>Send a message</a>, and its task appears here.
          </>
        ) : (
          'Choose another state, or clear the search. Open finds any task by its whole id.'
        )}
      </Empty>
    );
  }
  return (
    <table class="tasks">
      <caption class="hidden">Tasks of this agent</caption>
      <thead>
        <tr>
          <th scope="col">State</th>
          <th scope="col">Task</th>
          <th scope="col">Context</th>
          <th scope="col">Changed</th>
        </tr>
      </thead>
      <tbody>
        {shown.map((task) => (
          <Row key={task.id} agent={agent} task={task} pickContext={pickContext} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ agent, task, pickContext }: { readonly task: Task } & Pick<RowsShape, 'agent' | 'pickContext'>) {
  const { id, contextId, status, history } = task;
  const part = history?.[0]?.parts[0] ?? status.message?.parts[0];
  const text = part !== undefined && part.text !== undefined ? part.text : '';
  return (
    <tr>
      <td>
        <StateLabel state={status.state} />
      </td>
      <td class="task-cell">
        <a href={fragmentOf({ page: 'tasks', agent: agent.path, id })}>
          <code>{shownName(id, 60)}</code>
        </a>
        {text !== '' && <bdi class="task-text">{shownName(text, 100)}</bdi>}
      </td>
      <td>
        {contextId !== undefined && (
          <button
            type="button"
            class="quiet context"
            title={`Only the context ${contextId.slice(0, 100)}`}
            onClick={() => pickContext(contextId)}
          >
            <code>{shownName(contextId.slice(-8), 12)}</code>
          </button>
        )}
      </td>
      <td class="age">{agoOf(status.timestamp, Date.now())}</td>
    </tr>
  );
}
