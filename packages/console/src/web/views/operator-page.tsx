import { useSignal } from '@preact/signals';
import type { ClusterStatus } from 'parley-a2a/operator';
import { useCallback, useEffect } from 'preact/hooks';
import { agents } from '../agents.js';
import {
  type Counts,
  keepOperatorToken,
  mayBeOperator,
  type OperatorTask,
  type Overview,
  operatorToken,
  type ParkedDelivery,
  readOverview,
  readTask,
  replayDelivery,
  type TaskFilter,
} from '../operator.js';
import { shownName } from '../shown-name.js';
import { SHOWN_STATES, stateName } from '../task-view.js';
import { AuditRecords } from './audit-records.js';
import { Empty, Failure, FieldForm, Json, PageTitle, StateLabel } from './controls.js';
import { duration, OperatorTable, ScopeCells } from './operator-table.js';

const REFRESH_MS = 5_000;

/** The tasks, webhooks and replicas that need an operator. */
export function OperatorPage() {
  const overview = useSignal<Overview | undefined>(undefined);
  const failure = useSignal<string | undefined>(undefined);
  const filter = useSignal<TaskFilter>({});
  const isAsking = mayBeOperator.value;
  const asked = filter.value;
  const token = operatorToken.value;
  const refresh = useCallback(async (): Promise<void> => {
    try {
      const found = await readOverview(asked);
      // The user has chosen other tasks meanwhile.
      if (filter.value !== asked) return;
      overview.value = found;
      failure.value = undefined;
    } catch (error) {
      overview.value = undefined;
      failure.value = (error as Error).message;
    }
  }, [asked, filter, overview, failure]);
  useEffect(() => {
    if (!isAsking) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const go = async (): Promise<void> => {
      await refresh();
      // After a refusal, polling stops until the user changes something.
      if (!isOver && failure.value === undefined) timer = setTimeout(() => void go(), REFRESH_MS);
    };
    void go();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [isAsking, token, refresh, failure]);
  // Data of one operator must not be shown to the next one.
  useEffect(() => {
    if (!isAsking) return undefined;
    return () => {
      overview.value = undefined;
      failure.value = undefined;
    };
  }, [isAsking, token, overview, failure]);
  const shown = overview.value;
  return (
    <div class="page">
      <header class="page-head">
        <PageTitle>Operator</PageTitle>
        <p class="lead">Tasks of all users that are slow or stuck, failed webhooks, and the replicas.</p>
      </header>
      {failure.value !== undefined && <Failure>{shownName(failure.value, 400)}</Failure>}
      {shown === undefined && (!isAsking || failure.value !== undefined) && <TokenForm />}
      {shown === undefined && isAsking && failure.value === undefined && <p>Loading</p>}
      {shown !== undefined && (
        <>
          {shown.status.problems.map((problem) => (
            <Failure key={problem}>{shownName(problem, 400)}</Failure>
          ))}
          <CountsByState counts={shown.counts} />
          <Tasks
            tasks={shown.tasks}
            hasMore={shown.hasMoreTasks}
            filter={asked}
            choose={(next) => (filter.value = next)}
          />
          <Deliveries parked={shown.parked} hasMore={shown.hasMoreParked} refresh={refresh} />
          <Replicas status={shown.status} />
          <AuditRecords key={`${token} ${asked.agent}`} agent={asked.agent} />
          {token !== null && (
            <p>
              <button type="button" onClick={() => keepOperatorToken(null)}>
                Forget the token
              </button>
            </p>
          )}
        </>
      )}
    </div>
  );
}

function TokenForm() {
  return (
    <>
      <p>Only operators see this. Sign in to an agent as an operator, or give the token of this launch.</p>
      <FieldForm isSecret label="Operator token" action="Show" give={keepOperatorToken} />
    </>
  );
}

function CountsByState({ counts: { byState, isPart } }: { readonly counts: Counts }) {
  const shown = SHOWN_STATES.filter((state) => byState[state] !== undefined);
  return (
    <section aria-label="Counts">
      <h2>Counts</h2>
      {shown.length === 0 ? (
        <p class="facts">No tasks</p>
      ) : (
        <ul class="operator-counts">
          {shown.map((state) => (
            <li key={state}>
              <StateLabel state={state} /> {byState[state]}
            </li>
          ))}
        </ul>
      )}
      {isPart && <p class="facts">Counted for 1,000 owners. There are more.</p>}
    </section>
  );
}

const LEASES = { held: 'A replica runs it', ended: 'Stuck: no replica holds it', none: 'None' } as const;

interface TasksShape {
  readonly tasks: readonly OperatorTask[];
  readonly hasMore: boolean;
  readonly filter: TaskFilter;
  readonly choose: (filter: TaskFilter) => void;
}

function Filters({ filter, choose }: Pick<TasksShape, 'filter' | 'choose'>) {
  const owner = useSignal(filter.owner ?? '');
  const submit = (event: Event): void => {
    event.preventDefault();
    choose({ ...filter, owner: owner.value.trim() || undefined });
  };
  return (
    <search>
      <form class="operator-filters" onSubmit={submit}>
        <select
          aria-label="State"
          value={filter.state ?? ''}
          onChange={({ currentTarget: { value } }) =>
            choose({ ...filter, state: SHOWN_STATES.find((state) => state === value) })
          }
        >
          <option value="">Unfinished</option>
          {SHOWN_STATES.map((state) => (
            <option key={state} value={state}>
              {stateName(state)}
            </option>
          ))}
        </select>
        <select
          aria-label="Agent"
          value={filter.agent ?? ''}
          onChange={({ currentTarget: { value } }) => choose({ ...filter, agent: value || undefined })}
        >
          <option value="">All agents</option>
          {(agents.value ?? []).map(({ path }) => (
            <option key={path} value={path}>
              {shownName(path, 60)}
            </option>
          ))}
        </select>
        <input
          type="search"
          aria-label="Owner"
          placeholder="Owner, such as apikey|ada"
          value={owner.value}
          onInput={({ currentTarget }) => {
            owner.value = currentTarget.value;
          }}
        />
        <button type="submit">Filter</button>
      </form>
    </search>
  );
}

function Tasks({ tasks, hasMore, filter, choose }: TasksShape) {
  const record = useSignal<{ readonly id: string; readonly value: unknown } | undefined>(undefined);
  const failure = useSignal<string | undefined>(undefined);
  const open = async (task: OperatorTask): Promise<void> => {
    failure.value = undefined;
    try {
      record.value = { id: task.id, value: await readTask(task) };
    } catch (error) {
      failure.value = (error as Error).message;
    }
  };
  return (
    <section aria-label="Tasks">
      <h2>Tasks</h2>
      <Filters filter={filter} choose={choose} />
      <p class="facts">
        {tasks.length} {tasks.length === 1 ? 'task' : 'tasks'}
        {hasMore ? ' and more: filter to see others. ' : '. '}Stuck ones first, then the longest silent
      </p>
      {tasks.length === 0 ? (
        <Empty title="No such tasks">Tasks that run or wait appear here. Filters show the others.</Empty>
      ) : (
        <OperatorTable
          caption="Tasks of all users"
          columns={['State', 'Task', 'Agent', 'Owner', 'Silent', 'Age', 'Lease']}
        >
          {tasks.map((task) => (
            <tr key={JSON.stringify([task.agent, task.tenant, task.owner, task.id])}>
              <td>
                <StateLabel state={task.state} />
              </td>
              <td>
                <button type="button" class="quiet" onClick={() => void open(task)}>
                  <code>{shownName(task.id, 60)}</code>
                </button>
              </td>
              <ScopeCells {...task} />
              <td class="age">{duration(task.silentMs ?? task.ageMs)}</td>
              <td class="age">{duration(task.ageMs)}</td>
              <td>{LEASES[task.lease]}</td>
            </tr>
          ))}
        </OperatorTable>
      )}
      {failure.value !== undefined && <Failure>{shownName(failure.value, 400)}</Failure>}
      {record.value !== undefined && (
        <Json value={record.value.value} label={`Task ${shownName(record.value.id, 60)}`} />
      )}
    </section>
  );
}

interface DeliveriesShape {
  readonly parked: readonly ParkedDelivery[];
  readonly hasMore: boolean;
  readonly refresh: () => Promise<void>;
}

function Deliveries({ parked, hasMore, refresh }: DeliveriesShape) {
  const failure = useSignal<string | undefined>(undefined);
  const replay = async (delivery: ParkedDelivery): Promise<void> => {
    failure.value = undefined;
    try {
      await replayDelivery(delivery);
    } catch (error) {
      failure.value = (error as Error).message;
    }
    await refresh();
  };
  return (
    <section aria-label="Failed webhooks">
      <h2>Failed webhooks</h2>
      {hasMore && <p class="facts">The first {parked.length}. More follow when these are replayed.</p>}
      {parked.length === 0 ? (
        <Empty title="No failed webhooks">Webhooks that the server has given up appear here.</Empty>
      ) : (
        <OperatorTable
          caption="Webhooks that the server has given up"
          columns={['Task', 'Agent', 'Owner', 'Webhook', 'Events', 'Reason', 'Replay']}
        >
          {parked.map((one) => (
            <tr key={JSON.stringify([one.agent, one.tenant, one.owner, one.taskId, one.configId])}>
              <td>
                <code>{shownName(one.taskId, 60)}</code>
              </td>
              <ScopeCells {...one} />
              <td>{shownName(one.configId, 60)}</td>
              <td>{one.pendingEvents}</td>
              <td class="reason">{shownName(one.parked, 200)}</td>
              <td>
                <button type="button" onClick={() => void replay(one)}>
                  Replay
                </button>
              </td>
            </tr>
          ))}
        </OperatorTable>
      )}
      {failure.value !== undefined && <Failure>{shownName(failure.value, 400)}</Failure>}
    </section>
  );
}

function Replicas({ status }: { readonly status: ClusterStatus }) {
  const { replicas, runningTurns, waiting, oldestWaitMs = 0, pendingWebhooks } = status;
  return (
    <section aria-label="Replicas">
      <h2>Replicas</h2>
      <p class="facts">
        <span>Running turns: {runningTurns}</span>
        <span>
          Waiting messages: {waiting}
          {waiting > 0 && `, for ${duration(oldestWaitMs)}`}
        </span>
        <span>Pending webhooks: {pendingWebhooks}</span>
      </p>
      <OperatorTable
        caption="Replicas on the storage"
        columns={['Replica', 'State', 'Heartbeat', 'Age', 'Turns', 'Agents']}
      >
        {replicas.map(({ node, isAlive, silentMs, ageMs, runningTurns: turns, agents }) => (
          <tr key={node}>
            <td>
              <code>{shownName(node, 60)}</code>
            </td>
            <td>{isAlive ? 'Alive' : 'Silent'}</td>
            <td class="age">{duration(silentMs)}</td>
            <td class="age">{duration(ageMs)}</td>
            <td>{turns}</td>
            <td class="reason">{shownName(agents.join(' '), 200)}</td>
          </tr>
        ))}
      </OperatorTable>
    </section>
  );
}
