import { Annotation, type BaseCheckpointSaver, END, interrupt, START, StateGraph } from '@langchain/langgraph';

const RefundState = Annotation.Root({
  request: Annotation<string>,
  amount: Annotation<number>,
  receipt: Annotation<string>,
});

/** A refund up to this amount needs no approval. */
const FREE_AMOUNT = 20;

/** A graph that finds the amount in a request, asks about a large one, and writes a receipt. */
export function refundGraph(checkpointer: BaseCheckpointSaver) {
  return new StateGraph(RefundState)
    .addNode('read', ({ request }) => ({ amount: Number(/\d+/.exec(request)?.[0] ?? 0) }))
    .addNode('ask', ({ amount }) => {
      const isApproved = /^y(es)?\b/i.test(String(interrupt(`Refund ${amount} euros?`)));
      return isApproved ? {} : { amount: 0 };
    })
    .addNode('pay', ({ amount }) => ({
      receipt: amount > 0 ? `${amount} euros are on their way.` : 'Nothing is paid.',
    }))
    .addEdge(START, 'read')
    .addConditionalEdges('read', ({ amount }) => (amount > FREE_AMOUNT ? 'ask' : 'pay'), ['ask', 'pay'])
    .addEdge('ask', 'pay')
    .addEdge('pay', END)
    .compile({ checkpointer });
}

/** The receipt in the final state of the graph. */
export function receiptOf(state: unknown): string {
  return (state as typeof RefundState.State).receipt;
}
