import type { ChildProgram } from '../run/child-program.js';
import type { SubjectMessage, Usage } from '../subjects/subject-host.js';
import type { SubjectName } from '../subjects.js';
import { jsonOf, SubjectClient } from './subject-client.js';

/** The result of a probe. */
export interface Measured {
  readonly value: number;
  /** The origin of the figure. */
  readonly detail: string;
}

/** A subject that is being probed. */
export class ProbedServer extends SubjectClient {
  readonly subject: SubjectName;
  readonly #process: ChildProgram<SubjectMessage>;

  constructor(subject: SubjectName, process: ChildProgram<SubjectMessage>, port: number) {
    super(port);
    this.subject = subject;
    this.#process = process;
  }

  /** Resources of the process. With `settle`, after garbage collections. */
  async usage(how: 'now' | 'settle' = 'now'): Promise<Usage> {
    const usage = this.#process.next('usage', 120_000);
    this.#process.send({ kind: how });
    return (await usage).usage;
  }

  /** Lets a waiting agent continue. */
  go(): void {
    this.#process.send({ kind: 'go' });
  }

  /** Resolves to the figures that the agent reports at its end. Must be called before that. */
  async told(): Promise<Readonly<Record<string, number>>> {
    return (await this.#process.next('told', 300_000)).figures;
  }

  /** Sends a prompt and waits for the finished task. */
  async finish(prompt: string): Promise<void> {
    const { task } = (await jsonOf(this.call('SendMessage', prompted(prompt)))) as {
      task?: { status: { state: string } };
    };
    if (task?.status.state !== 'TASK_STATE_COMPLETED') throw new Error(`"${prompt}" was not completed`);
  }
}

let sent = 0;

/** A message to an agent. */
export function prompted(text: string): object {
  return { message: { messageId: `probe-${++sent}`, role: 'ROLE_USER', parts: [{ text }] } };
}
