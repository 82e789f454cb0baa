import type { StreamResponse, Task } from 'parley-a2a';
import { A2AError, type Client, type ConnectOptions, connect } from 'parley-a2a/client';
import type { Invocation } from '../command-line/invocation.js';
import { type Failure, failureOf } from '../failure/failure.js';
import { ReportedFailure } from '../failure/reported-failure.js';
import type { Settings } from '../settings/settings.js';
import { shellWord } from '../task/shell-word.js';
import { TaskThread } from '../task/task-thread.js';
import { type AgentCredentials, credentialHint } from './agent-credentials.js';
import { agentFlags } from './agent-flags.js';
import { agentOptions } from './agent-options.js';
import { type AgentTarget, agentTarget } from './agent-target.js';
import type { CardSignatures } from './card-signatures.js';
import { readCard } from './read-card.js';
import { furtherBindings } from './transports.js';

/** An agent that a command calls. */
export interface CalledAgent {
  readonly client: Client;
  /** The state of the task of the command. */
  readonly thread: TaskThread;
  readonly credentials: AgentCredentials;
  /** Undefined if signatures are not checked. */
  readonly signatures: CardSignatures | undefined;
  /** Makes the report of an error of a call. */
  readonly failure: (error: unknown) => Failure;
}

/** The agent and the task of a command, if arguments select them. */
export interface NamedAgent {
  readonly taskId?: string | undefined;
  /** The agent to call. Default: that of the settings. */
  readonly reference?: string;
}

/**
 * Runs a command against an agent. Default: that of the settings.
 * @throws ReportedFailure with the failure, and a hint based on the card.
 */
export async function withAgent(
  invocation: Invocation,
  run: (agent: CalledAgent) => Promise<number>,
  { taskId, reference }: NamedAgent = {},
): Promise<number> {
  const target = agentTarget(invocation, reference);
  const { connect: options, credentials, signatures } = await agentOptions(invocation, target);
  const flags = agentFlags(invocation);
  const thread = new TaskThread(flags, taskId);
  let client: Client | undefined;
  const explain = (error: unknown): Failure => {
    const failure = failureOf(error, {
      credentials: credentials.sent,
      binding: client?.agentInterface.protocolBinding,
    });
    const hint = failure.hint ?? hintFor({ failure, client, thread, flags, path: invocation.command.path });
    return { ...failure, hint: hint ?? null };
  };
  try {
    const interceptors = [
      ...(options.interceptors ?? []),
      ...(invocation.output.watched ? [progressInterceptor(thread)] : []),
    ];
    client = await readCard(connectAgent(target, { ...options, interceptors }, invocation.settings));
    return await run({ client, thread, credentials, signatures, failure: explain });
  } catch (error) {
    throw new ReportedFailure(explain(error), error);
  }
}

/** Connects over a binding that is loaded on demand, if the agent has no other and no flag selects one. */
export async function connectAgent(target: AgentTarget, options: ConnectOptions, settings: Settings): Promise<Client> {
  try {
    return await connect(target, options);
  } catch (error) {
    const isUnknown = error instanceof A2AError && error.code === 'UNSUPPORTED_OPERATION';
    if (!isUnknown || settings.list('transport').length > 0) throw error;
    return connect(target, { ...options, bindings: await furtherBindings(settings) });
  }
}

/** Passes tasks and events to the progress line, even while the library waits. */
function progressInterceptor(thread: TaskThread): NonNullable<ConnectOptions['interceptors']>[number] {
  return (call, next) => {
    const outcome = next(call);
    if (!('then' in outcome)) return learnFromEvents(outcome, thread);
    const learnAnswer = (answer: unknown) => {
      if (isTask(answer)) thread.learnTask(answer);
    };
    (outcome as Promise<unknown>).then(learnAnswer, () => {});
    return outcome;
  };
}

async function* learnFromEvents(
  events: AsyncIterable<StreamResponse>,
  thread: TaskThread,
): AsyncGenerator<StreamResponse> {
  for await (const event of events) {
    thread.learn(event);
    yield event;
  }
}

/** True for a task. Responses to messages contain a task instead, and the command reads those itself. */
function isTask(answer: unknown): answer is Task {
  return typeof answer === 'object' && answer !== null && 'status' in answer && 'contextId' in answer;
}

interface HintContext {
  readonly failure: Failure;
  readonly client: Client | undefined;
  readonly thread: TaskThread;
  readonly flags: string;
  /** Path of the command that failed. */
  readonly path: string;
}

function hintFor({ failure: { code }, client, thread, flags, path }: HintContext): string | undefined {
  switch (code) {
    case 'A2ACLI_ERR_CREDENTIALS_MISSING':
      return client && credentialHint(client.card, flags);
    case 'A2ACLI_ERR_AUTH_FAILED': {
      const ways = client && credentialHint(client.card, flags);
      return ways && `check the credential, or get a new one; ${ways}`;
    }
    case 'A2ACLI_ERR_TIMEOUT':
      return thread.follow;
    case 'A2ACLI_ERR_UNREACHABLE':
      return thread.taskId === undefined ? 'does the agent run there? --debug shows what was tried' : thread.follow;
    case 'TaskNotFoundError':
      return 'the agent knows no such task, or not for this caller; --debug shows the exchange';
    case 'UnsupportedOperationError':
      if (path === 'task subscribe' && client?.card.capabilities.streaming === true)
        return `a task that is over cannot be followed: ${thread.follow}`;
      return '--debug shows the exchange; parley card get --verbose shows what the agent offers';
    case 'ExtensionSupportRequiredError':
      return client === undefined ? undefined : extensionHint(client);
    case 'VersionNotSupportedError':
      return flags.includes(' --a2a-version')
        ? 'leave --a2a-version out, or name one that the card has'
        : `parley card get${flags} shows which versions the agent speaks; --a2a-version 0.3 asks for an old one`;
    default:
      return '--debug shows the exchange';
  }
}

/** Returns the flags for the extensions that the card requires. */
function extensionHint({ card }: Client): string | undefined {
  const required = (card.capabilities.extensions ?? []).filter((extension) => extension.required === true);
  const flags = required.map(({ uri = '' }) => `--extension ${shellWord(uri)}`);
  return flags.length === 0 ? undefined : `where that is meant: ${flags.join(' ')}`;
}
