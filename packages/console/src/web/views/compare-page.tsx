import { useSignal } from '@preact/signals';
import type { AgentInterface } from 'parley-a2a';
import type { Agent } from '../agents.js';
import { answerOver, type ComparedAnswer, callableInterfaces, differencesOf, interfaceName } from '../comparison.js';
import { fragmentOf } from '../route.js';
import { shownName } from '../shown-name.js';
import { Empty, Json, PageTitle } from './controls.js';

/** One message over two interfaces of an agent, with both answers. */
export function ComparePage({ agent }: { readonly agent: Agent }) {
  const all = callableInterfaces(agent);
  const chosen = useSignal<readonly [number, number]>([0, Math.min(1, all.length - 1)]);
  const text = useSignal('');
  const answers = useSignal<readonly (ComparedAnswer | undefined)[] | undefined>(undefined);
  const isRunning = answers.value?.includes(undefined) === true;
  const sides = chosen.value.flatMap((at) => all[at] ?? []);
  const send = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (text.value.trim() === '' || isRunning) return;
    answers.value = sides.map(() => undefined);
    await Promise.all(
      sides.map(async (one, at) => {
        const answer = await answerOver(agent, one, text.value.trim());
        answers.value = answers.value?.with(at, answer);
      }),
    );
  };
  return (
    <div class="page">
      <header class="page-head">
        <PageTitle>Compare bindings</PageTitle>
        <p class="lead">The same message over two interfaces of the agent. Each one makes a task of its own.</p>
      </header>
      {all.length < 2 ? (
        <Empty title="Nothing to compare">The card names one interface that a browser can call.</Empty>
      ) : (
        <form class="compare" onSubmit={(event) => void send(event)}>
          {(['First', 'Second'] as const).map((name, side) => (
            <label key={name} class="field">
              {name} interface
              <select
                value={String(chosen.value[side])}
                disabled={isRunning}
                onChange={({ currentTarget }) => {
                  chosen.value = chosen.value.with(side, Number(currentTarget.value)) as [number, number];
                  answers.value = undefined;
                }}
              >
                {all.map((one, at) => (
                  <option key={at} value={String(at)}>
                    {shownName(interfaceName(one), 60)}
                  </option>
                ))}
              </select>
            </label>
          ))}
          <label class="field">
            Message
            <input
              type="text"
              value={text.value}
              onInput={({ currentTarget }) => {
                text.value = currentTarget.value;
              }}
            />
          </label>
          <button type="submit" class="primary" disabled={isRunning}>
            Send to both
          </button>
        </form>
      )}
      {answers.value !== undefined && <Answers agent={agent} sides={sides} answers={answers.value} />}
    </div>
  );
}

interface AnswersShape {
  readonly agent: Agent;
  readonly sides: readonly AgentInterface[];
  readonly answers: readonly (ComparedAnswer | undefined)[];
}

function Answers({ agent, sides, answers }: AnswersShape) {
  const [one, other] = answers;
  const differences = one === undefined || other === undefined ? undefined : differencesOf(one, other);
  return (
    <>
      <p role="status" class={differences?.length === 0 ? 'same' : 'waiting'}>
        {verdictOf(differences)}
      </p>
      <div class="cards">
        {sides.map((side, at) => {
          const answer = answers[at];
          return (
            <section key={at} class="box" aria-label={`Answer ${at + 1}`}>
              <h2>{shownName(interfaceName(side), 60)}</h2>
              {answer === undefined ? (
                <p>Waiting for the answer</p>
              ) : (
                <>
                  <p class="facts">
                    <span>{answer.ms} ms</span>
                    {answer.taskId !== undefined && (
                      <a href={fragmentOf({ page: 'tasks', agent: agent.path, id: answer.taskId })}>
                        Task and timeline
                      </a>
                    )}
                  </p>
                  <Json value={answer.members} label={`Contents of answer ${at + 1}`} />
                </>
              )}
            </section>
          );
        })}
      </div>
    </>
  );
}

function verdictOf(differences: readonly string[] | undefined): string {
  if (differences === undefined) return 'Waiting for both answers';
  return differences.length === 0 ? 'Both answers are the same' : `The answers differ in: ${differences.join(', ')}`;
}
