import type { AgentInterface, Part } from 'parley-a2a';
import { type Agent, failureOf } from './agents.js';
import { stateName } from './task-view.js';

/** The answer to a message over one interface. */
export interface ComparedAnswer {
  readonly ms: number;
  readonly taskId: string | undefined;
  /** Members by name, without ids and times, which differ between any two answers. */
  readonly members: Readonly<Record<string, unknown>>;
}

/** The bindings that a browser can call. */
const CALLABLE = ['JSONRPC', 'HTTP+JSON'];

/** The interfaces of an agent that this page can call. */
export function callableInterfaces({ card }: Agent): readonly AgentInterface[] {
  return card.supportedInterfaces.filter(({ protocolBinding }) => CALLABLE.includes(protocolBinding));
}

/** The name of an interface. */
export function interfaceName({ protocolBinding, protocolVersion }: AgentInterface): string {
  return `${protocolBinding} ${protocolVersion}`;
}

/** Sends a text over one interface, and waits for the answer. */
export async function answerOver(agent: Agent, one: AgentInterface, text: string): Promise<ComparedAnswer> {
  const began = performance.now();
  const since = () => Math.round(performance.now() - began);
  const client = await agent.clientOf({ ...agent.card, supportedInterfaces: [one] });
  try {
    const answer = await client.ask(text);
    if (answer.message !== undefined)
      return { ms: since(), taskId: undefined, members: { message: contentsOf(answer.message.parts) } };
    const { id, status, artifacts = [] } = answer.task;
    const members = {
      state: stateName(status.state),
      message: contentsOf(status.message?.parts ?? []),
      artifacts: artifacts.map(({ name = '', parts }) => ({ name, parts: contentsOf(parts) })),
    };
    return { ms: since(), taskId: id, members };
  } catch (error) {
    return { ms: since(), taskId: undefined, members: { failure: failureOf(agent, error) } };
  } finally {
    void client.close();
  }
}

/** The names of the members in which two answers differ. */
export function differencesOf({ members: one }: ComparedAnswer, { members: other }: ComparedAnswer): readonly string[] {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].filter((name) => JSON.stringify(one[name]) !== JSON.stringify(other[name]));
}

/** Contents without members that are empty or a default of one version only. */
function contentsOf(parts: readonly Part[]): readonly unknown[] {
  return parts.map((part) => {
    if (part.text !== undefined) return part.text;
    return part.data !== undefined ? part.data : part;
  });
}
