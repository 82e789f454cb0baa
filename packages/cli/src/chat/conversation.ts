import { createInterface, type Interface } from 'node:readline';
import { isInterrupted, isTerminal, printableLine } from 'parley-a2a';
import type { CalledAgent } from '../agent/with-agent.js';
import type { Invocation } from '../command-line/invocation.js';
import type { Failure } from '../failure/failure.js';
import { writeFailure } from '../failure/report.js';
import { filePart, type GivenPart } from '../message/message-parts.js';
import { sentRequest } from '../message/send-request.js';
import { TaskNews } from '../output/task-news.js';
import { INTERRUPTED } from '../task/waiting.js';
import { Turn } from './turn.js';

/** Errors after which the next message begins a new task. */
const TASK_IS_GONE: ReadonlySet<string> = new Set(['TaskNotFoundError', 'UnsupportedOperationError']);

/** Talks to an agent line by line. At a terminal it supports commands, prompts and Ctrl-C, as described in the help. */
export class Conversation {
  readonly #invocation: Invocation;
  readonly #agent: CalledAgent;
  readonly #isPerson = process.stdin.isTTY === true;
  readonly #news = new TaskNews();
  readonly #lines: Interface;
  readonly #waiting: string[] = [];
  #wake: (() => void) | undefined;
  #isClosed = false;
  #turn: Turn | undefined;
  /** Files for the next message. */
  #files: GivenPart[] = [];
  /** The task that the next message continues. */
  #taskId: string | undefined;
  #exitCode = 0;

  constructor(invocation: Invocation, agent: CalledAgent) {
    this.#invocation = invocation;
    this.#agent = agent;
    const terminal = this.#isPerson ? { output: process.stderr, prompt: '> ' } : {};
    this.#lines = createInterface({ input: process.stdin, ...terminal });
  }

  /** Resolves to the exit code once the conversation is over. */
  async run(): Promise<number> {
    const { settings, output } = this.#invocation;
    const { thread, client } = this.#agent;
    thread.contextId = settings.text('context-id');
    this.#taskId = settings.text('task-id');
    this.#listen();
    if (this.#isPerson) output.note(`${client.card.name}. /help lists what you can do; Ctrl-D leaves.`);
    for (let line = await this.#nextLine(); line !== undefined; line = await this.#nextLine()) await this.#take(line);
    this.#lines.close();
    process.off('SIGINT', this.#interrupt);
    if (!output.json) this.#tellEnd();
    return this.#exitCode;
  }

  #listen(): void {
    this.#lines.on('line', (line) => {
      // These commands apply to the running turn, so they are executed before its end.
      const command = this.#isPerson ? conversationCommand(line)?.name : undefined;
      if (this.#turn !== undefined && (command === 'cancel' || command === 'task')) void this.#take(line);
      else this.#waiting.push(line);
      this.#wake?.();
    });
    this.#lines.on('close', () => {
      this.#isClosed = true;
      this.#wake?.();
    });
    this.#lines.on('SIGINT', this.#interrupt);
    process.on('SIGINT', this.#interrupt);
  }

  readonly #interrupt = (): void => {
    if (this.#turn === undefined && this.#isPerson && this.#lines.line !== '') {
      this.#lines.write(null, { ctrl: true, name: 'e' });
      this.#lines.write(null, { ctrl: true, name: 'u' });
      return;
    }
    if (this.#turn !== undefined && !this.#turn.isCanceling) {
      void this.#turn.cancel();
      return;
    }
    this.#exitCode = INTERRUPTED;
    this.#waiting.length = 0;
    this.#turn?.leave();
    this.#lines.close();
  };

  async #nextLine(): Promise<string | undefined> {
    if (this.#isPerson && !this.#isClosed && this.#waiting.length === 0) {
      const names = this.#files.map((part) => ('url' in part ? part.url : (part.filename ?? 'file')));
      this.#lines.setPrompt(names.length === 0 ? '> ' : `(${printableLine(names.join(', '))}) > `);
      this.#lines.prompt();
    }
    while (this.#waiting.length === 0 && !this.#isClosed) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#waiting.shift();
  }

  async #take(line: string): Promise<void> {
    const command = this.#isPerson ? conversationCommand(line) : undefined;
    try {
      if (command !== undefined) await this.#obey(command);
      else if (line.trim() !== '') await this.#say(this.#isPerson ? messageOf(line) : line);
    } catch (error) {
      const failure = this.#agent.failure(error);
      writeFailure(this.#invocation.output, failure, true);
      this.#goOnAfter(failure);
    }
  }

  async #say(text: string): Promise<void> {
    const { thread } = this.#agent;
    const given = { message: { parts: [{ text }, ...this.#files] } };
    const { parts } = (await sentRequest(given, this.#agent.client, this.#invocation)).message;
    this.#turn = new Turn(this.#invocation, this.#agent, this.#news);
    try {
      await this.#turn.run(parts, this.#taskId);
      this.#files = [];
      this.#taskId = thread.state !== undefined && isInterrupted(thread.state) ? thread.taskId : undefined;
    } finally {
      this.#turn = undefined;
    }
  }

  /** An error ends only its own message. In a pipe it also sets the exit code. */
  #goOnAfter({ code, exit }: Failure): void {
    if (TASK_IS_GONE.has(code)) this.#taskId = undefined;
    if (!this.#isPerson) this.#exitCode = exit;
  }

  async #obey(command: NonNullable<ReturnType<typeof conversationCommand>>): Promise<void> {
    const { output } = this.#invocation;
    const { thread, client } = this.#agent;
    if (command.name === 'help') output.notes(CONVERSATION_HELP);
    else if (command.name === 'exit') this.#lines.close();
    else if (command.name === 'task') this.#tellTask();
    else if (command.name === 'file') {
      if (command.place === '') output.note('/file needs a path or a URL');
      else this.#files.push(filePart(command.place));
    } else if (command.name === 'unknown')
      output.note(
        `There is no ${command.word}; /help lists the commands, //… sends a message that begins with a slash.`,
      );
    else if (this.#turn !== undefined) await this.#turn.cancel();
    else if (thread.taskId === undefined || thread.state === undefined || isTerminal(thread.state))
      output.note('No task runs or waits.');
    else {
      thread.learnTask(await client.cancelTask(thread.taskId));
      this.#taskId = undefined;
      output.note('Canceled.');
    }
  }

  #tellTask(): void {
    const { output } = this.#invocation;
    const { taskId, contextId, state } = this.#agent.thread;
    output.note(`Task: ${taskId ?? 'none'}`);
    output.note(`Context: ${contextId ?? 'none'}`);
    if (state !== undefined) output.note(`State: ${state.replace('TASK_STATE_', '')}`);
  }

  #tellEnd(): void {
    const { output } = this.#invocation;
    const { resume } = this.#agent.thread;
    if (this.#isPerson) this.#tellTask();
    if (resume !== undefined) output.note(`Resume: ${resume}`);
  }
}

/** The command of a line that begins with a slash. */
type ConversationCommand =
  | { readonly name: 'help' | 'cancel' | 'task' | 'exit' }
  | { readonly name: 'file'; readonly place: string }
  | { readonly name: 'unknown'; readonly word: string };

/** The commands of a conversation, for its help. */
const CONVERSATION_HELP: readonly string[] = [
  '/file <path|url>  attach a file to the next message',
  '/task             show the ids and the state of the task',
  '/cancel           cancel the task that runs or waits',
  '/help             show this',
  '/exit             leave, as Ctrl-D does',
  '//…               send a message that begins with a slash',
  'Ctrl-C cancels the turn; a second one leaves.',
];

/** Parses a line as a command; undefined if it is a message. */
function conversationCommand(line: string): ConversationCommand | undefined {
  if (!line.startsWith('/') || line.startsWith('//')) return undefined;
  const [word = '', ...rest] = line.trim().split(' ');
  const name = word.slice(1);
  if (name === 'file') return { name, place: rest.join(' ').trim() };
  if (name === 'help' || name === 'cancel' || name === 'task' || name === 'exit') return { name };
  return name === 'quit' ? { name: 'exit' } : { name: 'unknown', word };
}

/** Returns the message of a line. Two slashes at its beginning become one. */
function messageOf(line: string): string {
  return line.startsWith('//') ? line.slice(1) : line;
}
