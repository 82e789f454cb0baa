import { useSignal } from '@preact/signals';
import type { ClusterStatus } from 'parley-a2a/operator';
import { useCallback, useEffect } from 'preact/hooks';
import {
  keepOperatorToken,
  mayBeOperator,
  type OperatorTask,
  type Overview,
  operatorToken,
  type ParkedDelivery,
  readOverview,
  readTask,
  replayDelivery,
} from '../operator.js';
import { shownName } from '../shown-name.js';
import { Empty, Failure, FieldForm, focusable, Json, PageTitle, StateLabel } from './controls.js';

const REFRESH_MS = 5_000;

/** The tasks, webhooks and replicas that need an operator. */
export function OperatorPage() {
  const overview = useSignal<Overview | undefined>(undefined);
  const failure = useSignal<string | undefined>(undefined);
  const isAsking = mayBeOperator.value;
  const token = operatorToken.value;
  const refresh = useCallback(async (): Promise<void> => {
    try {
      overview.value = await readOverview();
      failure.value = undefined;
    } catch (error) {
      overview.value = undefined;
      failure.value = (error as Error).message;
    }
  }, [overview, failure]);
  useEffect(() => {
    if (!isAsking) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const go = async (): Promise<void> => {
      await refresh();
      // A refusal stays one until the user changes something.
      if (!isOver && failure.value === undefined) timer = setTimeout(() => void go(), REFRESH_MS);
    };
    void go();
    return () => {
      isOver = true;
      clearTimeout(timer);
      overview.value = undefined;
      failure.value = undefined;
    };
  }, [isAsking, token, refresh, overview, failure]);
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
          <Tasks tasks={shown.tasks} hasMore={shown.hasMoreTasks} />
          <Deliveries parked={shown.parked} hasMore={shown.hasMoreParked} refresh={refresh} />
          <Replicas status={shown.status} />
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

const LEASES = { held: 'A replica runs it', ended: 'Stuck: no replica holds it', none: 'None' } as const;

function Tasks({ tasks, hasMore }: { readonly tasks: readonly OperatorTask[]; readonly hasMore: boolean }) {
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
    <section aria-label="Unfinished tasks">
      <h2>Unfinished tasks</h2>
      <p class="facts">
        {tasks.length} {tasks.length === 1 ? 'task' : 'tasks'}
        {hasMore ? ', and more that are not sorted here' : ', stuck ones first, then the longest silent'}
      </p>
      {tasks.length === 0 ? (
        <Empty title="No unfinished tasks">Tasks that run or wait appear here.</Empty>
      ) : (
        <div class="scroll" {...focusable}>
          <table class="operator-table">
            <caption class="hidden">Unfinished tasks of all users</caption>
            <Head names={['State', 'Task', 'Agent', 'Owner', 'Silent', 'Age', 'Lease']} />
            <tbody>
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
            </tbody>
          </table>
        </div>
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
        <div class="scroll" {...focusable}>
          <table class="operator-table">
            <caption class="hidden">Webhooks that the server has given up</caption>
            <Head names={['Task', 'Agent', 'Owner', 'Webhook', 'Events', 'Reason', 'Replay']} />
            <tbody>
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
            </tbody>
          </table>
        </div>
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
      <div class="scroll" {...focusable}>
        <table class="operator-table">
          <caption class="hidden">Replicas on the storage</caption>
          <Head names={['Replica', 'State', 'Heartbeat', 'Age', 'Turns', 'Agents']} />
          <tbody>
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
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Head({ names }: { readonly names: readonly string[] }) {
  return (
    <thead>
      <tr>
        {names.map((name) => (
          <th key={name} scope="col">
            {name}
          </th>
        ))}
      </tr>
    </thead>
  );
}

function ScopeCells({ agent, tenant, owner }: Pick<OperatorTask, 'agent' | 'tenant' | 'owner'>) {
  return (
    <>
      <td>
        <code>{shownName(agent, 60)}</code>
      </td>
      <td>
        <bdi>{owner === null ? 'Anonymous' : shownName(owner, 60)}</bdi>
        {tenant !== '' && <bdi> in {shownName(tenant, 40)}</bdi>}
      </td>
    </>
  );
}

function duration(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`;
}
