import type { Message } from 'parley-a2a';
import { SecretBox } from 'parley-a2a/kit';
import type { RequestContext } from 'parley-a2a/server';

/** The member of the metadata of a question that has the encrypted state of its run. */
const MEMBER = 'runState';
const KEY_BYTES = 32;

/**
 * Stores the state of a run that waits for approvals: encrypted, in the metadata of the question to the caller. It can
 * be decrypted only for its own task.
 */
export class SealedRunStates {
  readonly #box: SecretBox;

  /**
   * Without keys, a random one is used, and only this process can decrypt the states.
   * @throws OptionsError for a text that is no key.
   */
  constructor(secretKeys: readonly string[] | undefined) {
    this.#box = new SecretBox(secretKeys ?? [randomKey()]);
  }

  /** The metadata of a question. */
  async metadataOf(state: string, context: RequestContext): Promise<{ readonly [MEMBER]: string }> {
    return { [MEMBER]: await this.#box.seal(state, placeOf(context)) };
  }

  /** True if a message is a question with a state. */
  isIn(question: Message | undefined): question is Message {
    return question?.role === 'ROLE_AGENT' && typeof question.metadata?.[MEMBER] === 'string';
  }

  /** The decrypted state of a question; `undefined` if no key fits. */
  async open(question: Message, context: RequestContext): Promise<string | undefined> {
    const sealed = question.metadata?.[MEMBER];
    if (typeof sealed !== 'string') return undefined;
    return this.#box.open(sealed, placeOf(context)).catch(() => undefined);
  }
}

function placeOf({ taskId }: RequestContext): readonly string[] {
  return [MEMBER, taskId];
}

function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
