import type { Artifact, AuthenticationInfo, Message, Part, RawPart, Task, TextPart, UrlPart } from 'parley-a2a';
import { callerClock, refuseArgument, systemIds } from 'parley-a2a/kit';
import type { PlainCredential } from 'parley-a2a/v0_3';
import {
  artifactOf,
  authCredentials,
  filePart,
  messageOf,
  messagesOf,
  messageWithParts,
  type TestFile,
  type TestIdOptions,
  taskOf,
  textPart,
} from './test-shapes.js';
import { type WaitForOptions, waitForOn, waitOn } from './waits.js';

export { CountingIds } from './counting-ids.js';
export { type CrashedRun, type CrashOptions, crashAndResume } from './crash-and-resume.js';
export type { CrashPoint } from './crash-rules.js';
export {
  type AssertedEvents,
  assertAllProtocolInvariants,
  assertChronologicalOrdering,
  assertConsistentIdPropagation,
  assertTaskCreationAndWorkingStatus,
  assertTaskFinalState,
  assertUniqueFinalEventIsLast,
  assertValidArtifactUpdates,
  type ExpectedIds,
  type InvariantOptions,
} from './event-assertions.js';
export type { CollectorWaitOptions } from './event-collector.js';
export type { StreamEventOf, StreamEventType } from './event-view.js';
export type { TestClockOptions } from './manual-clock.js';
export { type AssertionFinding, ProtocolAssertionError } from './protocol-assertion-error.js';
export {
  type AgentRun,
  type RunAgentOptions,
  runAgent,
  type TestAgent,
  type TestAgentOptions,
  testAgent,
} from './test-agent.js';
export { EventCollector, type EventCollectorOptions, TestClock } from './test-ports.js';
export type { EngineAgent, TestedAgent, TestServerOptions } from './test-process.js';
export type { TestFile, TestIdOptions } from './test-shapes.js';
export { assertToolLifecycle, type ToolLifecycleOptions } from './tool-assertions.js';
export { type WaitForOptions, WaitTimeoutError } from './waits.js';

const RANDOM: TestIdOptions = { ids: systemIds };

/** A message of the user with a text. */
export function createTestMessage(overrides: Partial<Message> = {}, options: TestIdOptions = RANDOM): Message {
  return messageOf(overrides, options);
}

/** Messages of one context: a number of them, or one for each text. */
export function createTestMessages(
  texts: number | readonly string[],
  overrides: Partial<Message> = {},
  options: TestIdOptions = RANDOM,
): readonly Message[] {
  if (typeof texts !== 'number' && !Array.isArray(texts))
    refuseArgument('createTestMessages', 'a number, or a list of texts', texts);
  return messagesOf(texts, overrides, options);
}

/** A message of the user with the given parts. */
export function createTestMessageWithParts(
  parts: readonly Part[],
  overrides: Partial<Message> = {},
  options: TestIdOptions = RANDOM,
): Message {
  if (!Array.isArray(parts)) refuseArgument('createTestMessageWithParts', 'a list of parts', parts);
  return messageWithParts(parts, overrides, options);
}

/** A part with a text. */
export function createTextPart(text?: string, overrides?: Partial<Omit<TextPart, 'text'>>): TextPart {
  return textPart(text, overrides);
}

/** A file part with base64, bytes or a url. */
export function createFilePart(file?: TestFile): RawPart | UrlPart {
  if (file !== undefined && Object(file) !== file)
    refuseArgument('createFilePart', '{ raw }, { url } or nothing', file);
  return filePart(file);
}

/** A task in SUBMITTED with one message. */
export function createTestTask(overrides: Partial<Task> = {}, options: TestIdOptions = RANDOM): Task {
  return taskOf(overrides, options);
}

/** An artifact with a text. */
export function createTestArtifact(overrides: Partial<Artifact> = {}, options: TestIdOptions = RANDOM): Artifact {
  return artifactOf(overrides, options);
}

/** The minimal members of a login of each type. */
const LOGINS: { readonly [Type in PlainCredential['type']]: PlainCredential } = {
  bearer: { type: 'bearer', token: 'test-token' },
  apikey: { type: 'apikey', apiKey: 'test-key' },
  oauth2: { type: 'oauth2', token: 'test-token' },
  mtls: { type: 'mtls' },
  custom: { type: 'custom', token: 'test-token' },
};

/** Credentials for the webhook of a push configuration; with `type`, those of a login over Cap'n Web. */
export function createTestAuthCredentials(overrides?: Partial<AuthenticationInfo>): AuthenticationInfo;
export function createTestAuthCredentials(login: PlainCredential): PlainCredential;
export function createTestAuthCredentials(
  given: Partial<AuthenticationInfo> | PlainCredential = {},
): AuthenticationInfo | PlainCredential {
  if (Object(given) !== given) refuseArgument('createTestAuthCredentials', 'the members to change', given);
  return 'type' in given ? { ...LOGINS[given.type], ...given } : authCredentials(given);
}

/** Waits for `ms` of real time. */
export async function wait(ms: number): Promise<void> {
  if (typeof ms !== 'number') refuseArgument('wait', 'a number of ms', ms);
  return waitOn(callerClock, ms);
}

/**
 * Waits in real time until a predicate returns a truthy value, and resolves to that. A predicate that throws counts as
 * false.
 * @throws WaitTimeoutError naming the condition. Its `cause` is the last error of the predicate.
 */
export async function waitFor<T>(predicate: () => T | Promise<T>, options?: WaitForOptions): Promise<T> {
  if (typeof predicate !== 'function') refuseArgument('waitFor', 'a function', predicate);
  return waitForOn(callerClock, predicate, options);
}
