import { changeQuestions } from 'parley-a2a/kit';
import type { AgentExecutor, EventQueue, RequestContext } from 'parley-a2a/server';
import { openedContext, restoredContext } from './opened-context.js';
import { type PartOpener, partSealer } from './part-encryption.js';
import { type AnswerSigning, SigningQueue } from './signing-queue.js';
import { notedSigners, rememberSigners } from './verified-signers.js';

/** The signing and encryption of an agent. */
interface AroundTurns {
  /** Signs answers. Absent: they have no signatures. */
  readonly answers: AnswerSigning | undefined;
  /** Decrypts parts, and encrypts answers for callers who ask for it. Absent: encryption is off. */
  readonly opener: PartOpener | undefined;
}

/** The context and the queue that the agent gets for a turn. */
interface OpenedTurn {
  readonly context: RequestContext;
  readonly events: EventQueue;
  readonly settled: () => Promise<void>;
}

/**
 * Wraps the agent, so that it gets decrypted parts and its answers are signed. `verifiedSigners` has the signers of the
 * message.
 */
export function signingAgent(agent: AgentExecutor, around: AroundTurns): AgentExecutor {
  const { replies, resumable } = agent;
  // A cancel publishes into the queue of the same turn, to keep the order.
  const turns = new WeakMap<EventQueue, OpenedTurn>();
  return {
    ...(replies !== undefined && { replies }),
    ...(resumable !== undefined && { resumable }),
    async execute(context, events) {
      const turn = await openedTurn(context, events, around);
      rememberSigners(turn.context, notedSigners(context.message));
      turns.set(events, turn);
      try {
        await agent.execute(turn.context, turn.events);
      } finally {
        await turn.settled();
      }
    },
    ...(agent.cancel && {
      async cancel(_: RequestContext, events: EventQueue) {
        const turn = turns.get(events);
        if (turn === undefined) return;
        await agent.cancel?.(turn.context, turn.events);
        await turn.settled();
      },
    }),
  };
}

async function openedTurn(
  context: RequestContext,
  events: EventQueue,
  { answers, opener }: AroundTurns,
): Promise<OpenedTurn> {
  const open = opener === undefined ? context : await openedContext(context, opener);
  if (answers === undefined) return { context: open, events, settled: async () => {} };
  const reply = await opener?.replyKey(context.message);
  const { library, signer } = answers;
  // The agent reads its own answers in later turns, so they are encrypted for it, too.
  const recipients = reply === undefined ? [] : [reply, ...(opener?.first ? [opener.first] : [])];
  const sealer = recipients.length > 0 ? partSealer({ library, recipients, by: signer.kids }) : undefined;
  const queue = await SigningQueue.of(context, { events, ports: answers, sealer });
  changeQuestions(context, queue.question);
  return { context: restoredContext(open), events: queue, settled: () => queue.waitForAll() };
}
