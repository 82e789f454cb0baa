import { textLogger } from 'parley-a2a';
import type { Client } from 'parley-a2a/client';
import { runAgent, type TestedAgent } from 'parley-a2a-testing';

/** The servers that the programs call. */
export interface World {
  /** An agent without authentication, and a client of it. */
  readonly url: string;
  readonly client: Client;
  /** An agent that asks for an API key. */
  readonly guarded: string;
  /** A host with two agents. */
  readonly host: string;
}

/** A mistake of a new user: a program, and the text that it must print. */
export interface Mistake {
  readonly name: string;
  /** Throws, or returns what it has logged. */
  readonly program: (world: World) => unknown;
  /** The text of the error, or a part of the log. `PORT` stands for the port of a server. */
  readonly prints: string;
  /** False for an error that no line of the program has caused, such as a value that an agent returned earlier. */
  readonly hasLine?: false;
}

/** Calls of programs without types. */
export const wrong = (value: unknown): never => value as never;

/** The outcome of a program: its text, and the first place of its stack. */
export interface Printed {
  readonly text: string;
  readonly place: string | undefined;
}

/** Runs a program to its error, or to its log. */
export async function printedBy(run: () => unknown): Promise<Printed> {
  try {
    const log = await run();
    return { text: hidePorts(typeof log === 'string' ? log : 'nothing'), place: undefined };
  } catch (error) {
    const { name, message, stack = '' } = error as Error;
    const place = stack.split('\n').find((line) => line.startsWith('    at '));
    return { text: hidePorts(`${name}: ${message}`), place };
  }
}

function hidePorts(text: string): string {
  return text.replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:PORT');
}

/** The log of an agent that gets one message. */
export async function logOf(agent: unknown): Promise<string> {
  const lines: string[] = [];
  const logger = textLogger({ write: (line) => lines.push(line), level: 'warn' });
  await runAgent(agent as TestedAgent, 'hello', { logger });
  return lines.join('');
}
