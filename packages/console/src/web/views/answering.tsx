import { useSignal } from '@preact/signals';
import type { Part } from 'parley-a2a';
import { questionsOf } from '../questions.js';
import type { TaskView } from '../task-view.js';
import { Failure, FieldForm } from './controls.js';
import { AskedText, Questions } from './questions.js';

/** Sends the parts of an answer. It rejects if the agent refuses them. */
export type SendParts = (parts: readonly Part[]) => Promise<void>;

interface AnsweringShape {
  readonly view: TaskView;
  readonly answer: SendParts;
}

/** The question of a task that waits for its user, with buttons, a form or a field for the answer. */
export function Answering({ view, answer }: AnsweringShape) {
  const failure = useSignal<string | undefined>(undefined);
  const isSent = useSignal(false);
  const questions = questionsOf(view);
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
    <div aria-busy={isSent.value}>
      <AskedText parts={view.message?.parts ?? []} questions={questions} />
      {questions.length > 0 ? (
        <Questions questions={questions} send={(_, data) => void send(data)} />
      ) : (
        <FieldForm label="Your answer" action="Answer" give={(text) => void send([{ text }])} />
      )}
      {failure.value !== undefined && <Failure>{failure.value}</Failure>}
    </div>
  );
}
