import type {
  Artifact,
  Logger,
  Message,
  Part,
  StreamResponse,
  Task,
  TaskStatus,
  TaskStatusUpdateEvent,
} from 'parley-a2a';
import type { HostExtension } from 'parley-a2a/binding-kit';
import type { ClientCallContext } from 'parley-a2a/client';
import {
  checkOptions,
  type DocumentFetch,
  ENCRYPTION_EXTENSION,
  guardedFetch,
  type KeyTimes,
  OptionsError,
  SIGNING_EXTENSION,
  silentLogger,
  systemClock,
  systemIds,
} from 'parley-a2a/kit';
import type { CardJwk, Interceptor } from 'parley-a2a/server';
import { AnswerVerifier } from './content/answer-verifier.js';
import type { TaskIds } from './content/canonical-content.js';
import { signingInterceptor } from './content/client-interceptor.js';
import { ContentSigner } from './content/content-signer.js';
import { ContentVerifier } from './content/content-verifier.js';
import { isEncrypted } from './content/encrypted-parts.js';
import { ownKeys, RecipientKeys } from './content/encryption-keys.js';
import { normalMessage, ownHeader, signedMessage, unsignedMessage } from './content/message-signer.js';
import { PartOpener, partSealer, replyMetadata } from './content/part-encryption.js';
import { PeerKeys, type SigningRuntime } from './content/peer-keys.js';
import { hasOwnSignature } from './content/signed-ends.js';
import { loadSigningLibrary } from './content/signing-library.js';
import type { AnswerKeyRule, PeerKeySource, TrustedPeer } from './content/trusted-peer.js';
import { UntrustedContentError } from './content/untrusted-content-error.js';
import { SigningExtension } from './server/signing-extension.js';
import { messageSigningSchema, signedCallsSchema, verifySchema } from './signing-options.js';

export type { PublicJwk } from 'parley-a2a/client';
export type { KeyTimes } from 'parley-a2a/kit';
export { ENCRYPTION_EXTENSION, SIGNING_EXTENSION } from 'parley-a2a/kit';
export type { CardJwk as PrivateJwk } from 'parley-a2a/server';
export type { TaskIds } from './content/canonical-content.js';
export type { AnswerKeyRule, PeerKeySource, TrustedPeer } from './content/trusted-peer.js';
export { UntrustedContentError } from './content/untrusted-content-error.js';
export { type VerifiedSigner, verifiedSigners } from './content/verified-signers.js';

/** Options for key sets that are fetched. */
interface KeySetOptions {
  /** Private hosts and addresses of key sets, such as `keys.internal:8443` or `10.0.0.0/8`. Default: none. */
  readonly allow?: readonly string[];
  /** Times of the reads of key sets. Default: as for tokens. */
  readonly keyTimes?: KeyTimes;
  /** Logs a key set that cannot be read. Default: no log. */
  readonly logger?: Logger;
  /** Fetches key sets. Default: the `fetch` of the host, with a check of addresses. */
  readonly fetch?: DocumentFetch;
}

/** Options of `messageSigning`. */
export interface MessageSigningOptions extends KeySetOptions {
  /** The path of the agent. Default: the only agent of the server. */
  readonly agent?: string;
  /** The name of the agent in signatures, such as its public url. It must differ from that of every other agent. */
  readonly audience: string;
  /** True if messages without a signature are refused. Default: false. */
  readonly required?: boolean;
  /**
   * The signers whose messages count: `id`, and `keys` or `jwksUrl`. `user` is the id of the only user whose messages
   * it signs.
   */
  readonly trust: readonly TrustedPeer[];
  /** Private keys that sign the answers, and public keys of earlier answers. Default: answers are not signed. */
  readonly keys?: readonly CardJwk[];
  /** Longest age of a signature. Default: 5 minutes. */
  readonly maxAgeMs?: number;
  /**
   * Encrypted parts: `keys` open them, the newest first, and `required` refuses plain parts. Needs `keys`. Default: the
   * agent gets parts as they are sent.
   * @see docs/signing.md#the-key-for-answers
   */
  readonly encryption?: {
    /** Private keys that decrypt parts, the newest first, with which callers encrypt. */
    readonly keys: readonly CardJwk[];
    /** True if plain parts of messages are refused. Default: false. */
    readonly required?: boolean;
    /** The callers who may name a key for answers. Default: `caller`. */
    readonly answerKeys?: AnswerKeyRule;
  };
}

/** Options of `signedCalls`. */
export interface SignedCallsOptions extends KeySetOptions {
  /**
   * The name of the agent in signatures, from its operator. Do not use the card: a false card could name another one.
   */
  readonly audience: string;
  /** Private keys, each of which signs every message. */
  readonly keys: readonly CardJwk[];
  /** The keys of the agent. Default: its answers are not verified. */
  readonly agent?: PeerKeySource;
  /** False if unsigned answers are accepted. Invalid signatures are refused in any case. Default: true. */
  readonly required?: boolean;
  /** True if FAILED and CANCELED are accepted without a signature. Default: false. */
  readonly unsignedEnds?: boolean;
  /** The validity of a signature, in ms. Default: 5 minutes. */
  readonly lifetimeMs?: number;
  /**
   * Encrypts the parts of messages, with the keys of the agent in `to`. Own `keys` open its answers, and `required`
   * refuses plain ones. Needs `agent`. Default: they are sent as they are.
   */
  readonly encryption?: {
    /** The public keys of the agent. The first one for encryption is used. */
    readonly to: PeerKeySource;
    /** Private keys that decrypt answers, the newest first. Default: answers are not encrypted. */
    readonly keys?: readonly CardJwk[];
    /** True if plain parts of answers are refused. Needs `keys`. Default: false. */
    readonly required?: boolean;
  };
}

/** Options of `verifySigned`. */
interface VerifyOptions extends KeySetOptions, Pick<SignedCallsOptions, 'required' | 'unsignedEnds'> {
  /** The name of the agent in signatures. */
  readonly audience: string;
  /** The keys of the agent. */
  readonly agent: PeerKeySource;
}

/** Signed content of an agent. */
export type SignedContent =
  | { readonly task: Task }
  /** A direct message, which belongs to no task. `re` is the id of the message that it answers. */
  | { readonly message: Message; readonly re?: string }
  /** A status, as in a push notification. Without the artifacts of the task, their hash is not compared. */
  | { readonly statusUpdate: TaskStatusUpdateEvent; readonly artifacts?: readonly Artifact[] }
  | ({ readonly artifact: Artifact } & TaskIds);

const FIVE_MINUTES_MS = 300_000;

/**
 * Verifies messages to an agent, and signs its answers. For the option `signing` of a server.
 * @throws OptionsError naming every option that is wrong.
 */
export async function messageSigning(options: MessageSigningOptions): Promise<HostExtension> {
  const subject = 'messageSigning';
  checkOptions({ subject, schema: messageSigningSchema, options });
  const { agent, audience, required = false, trust, keys, maxAgeMs = FIVE_MINUTES_MS, encryption } = options;
  checkAudience(subject, audience);
  if (encryption !== undefined && keys === undefined)
    throw new OptionsError(subject, ['encryption needs keys, which sign the answers']);
  const runtime = await runtimeOf(options);
  const { library } = runtime;
  return new SigningExtension({
    path: agent,
    audience,
    required,
    maxAgeMs,
    verifier: new ContentVerifier(library, new PeerKeys(subject, trust, runtime)),
    signer: keys && (await ContentSigner.of(subject, keys, library)),
    encryption: encryption && {
      opener: new PartOpener(library, await ownKeys(subject, encryption.keys, library)),
      required: encryption.required ?? false,
      answerKeys: encryption.answerKeys ?? 'caller',
    },
    library,
    clock: systemClock,
    ids: systemIds,
  });
}

/**
 * An interceptor that signs each message of a client, and verifies the answers of the agent. Use it as the last one in
 * the option `interceptors` of `connect`, because later ones would change signed messages.
 * @throws OptionsError naming every option that is wrong. Calls throw InvalidAgentResponseError for untrusted answers.
 */
export async function signedCalls(options: SignedCallsOptions): Promise<Interceptor<ClientCallContext>> {
  const subject = 'signedCalls';
  checkOptions({ subject, schema: signedCallsSchema, options });
  const { audience, keys, agent, lifetimeMs = FIVE_MINUTES_MS, encryption } = options;
  checkAudience(subject, audience);
  if (encryption !== undefined && agent === undefined)
    throw new OptionsError(subject, ['encryption needs agent, the keys that sign its answers']);
  const runtime = await runtimeOf(options);
  const signer = await ContentSigner.of(subject, keys, runtime.library);
  const sealing = encryption && (await sealedMessages(subject, encryption, { runtime, signer }));
  return signingInterceptor({
    extensions: [SIGNING_EXTENSION, ...(encryption ? [ENCRYPTION_EXTENSION] : [])],
    outgoing: async (message) => {
      // A repeated message keeps its signatures.
      const again = ownHeader(message, { signer, audience });
      if (again !== undefined) return { message, since: Number(again.iat) };
      const bare = unsignedMessage(normalMessage(message));
      const sealed = (await sealing?.seal(bare)) ?? bare;
      return signedMessage(sealed, { signer, audience, lifetimeMs, clock: systemClock });
    },
    answers: agent && (await answerVerifier(subject, { ...options, agent })),
    opened: sealing?.opened,
  });
}

interface SealedMessages {
  readonly seal: (message: Message) => Promise<Message>;
  readonly opened: ((event: StreamResponse) => Promise<StreamResponse>) | undefined;
}

/** Encrypts messages for the agent, and also for the sender if it has keys, so that it can read them in the history. */
async function sealedMessages(
  subject: string,
  { to, keys, required = false }: NonNullable<SignedCallsOptions['encryption']>,
  { runtime, signer }: { readonly runtime: SigningRuntime; readonly signer: ContentSigner },
): Promise<SealedMessages> {
  const { library } = runtime;
  if (required && keys === undefined)
    throw new OptionsError(subject, ['encryption.required needs encryption.keys, for which answers are encrypted']);
  const own = keys === undefined ? [] : await ownKeys(subject, keys, library);
  const [first] = own;
  const agentKeys = new RecipientKeys(subject, to, runtime);
  const opener = keys && new PartOpener(library, own);
  return {
    opened:
      opener &&
      (async (event) => {
        if (required) checkEncrypted(event);
        return opener.event(event);
      }),
    seal: async (message) => {
      const recipients = [await agentKeys.current(), ...(first ? [first] : [])];
      const sealed = await partSealer({ library, recipients, by: signer.kids }).message(message);
      const metadata = { ...message.metadata, ...(first && replyMetadata(first)) };
      const extensions = [...new Set([...(message.extensions ?? []), ENCRYPTION_EXTENSION])];
      return { ...sealed, extensions, ...(Object.keys(metadata).length > 0 && { metadata }) };
    },
  };
}

/**
 * Verifies a stored task, a message, a status or an artifact of an agent.
 * @throws UntrustedContentError naming the field whose signature is missing or wrong. OptionsError naming every option
 * that is wrong.
 */
export async function verifySigned(content: SignedContent, options: VerifyOptions): Promise<void> {
  checkOptions({ subject: 'verifySigned', schema: verifySchema, options });
  checkAudience('verifySigned', options.audience);
  const verifier = await answerVerifier('verifySigned', options);
  if ('task' in content) await verifier.task(content.task);
  else if ('message' in content) await verifier.message(content.message, { re: content.re });
  else if ('statusUpdate' in content) await verifier.status(content.statusUpdate, content.artifacts);
  else await verifier.artifact(content.artifact, content);
}

async function answerVerifier(subject: string, options: VerifyOptions): Promise<AnswerVerifier> {
  const { agent, audience, required = true, unsignedEnds: takesUnsignedEnds = false } = options;
  const runtime = await runtimeOf(options);
  const peers = new PeerKeys(subject, [{ ...agent, id: audience }], runtime, () => 'agent');
  const verifier = new ContentVerifier(runtime.library, peers);
  return new AnswerVerifier({ verifier, issuer: audience, required, takesUnsignedEnds });
}

async function runtimeOf(options: KeySetOptions): Promise<SigningRuntime> {
  const library = await loadSigningLibrary();
  const { allow = [], keyTimes, logger = silentLogger, fetch = guardedFetch({ allow }) } = options;
  return { library, clock: systemClock, logger, fetch, keyTimes };
}

function checkAudience(subject: string, audience: string): void {
  if (typeof audience !== 'string' || audience === '' || audience.length > 1_024)
    throw new OptionsError(subject, ['audience must be a text of at most 1,024 characters']);
}

/**
 * Checks that all parts of an answer are encrypted. The text of an end that the engine wrote is not encrypted.
 * @throws UntrustedContentError naming the first plain part.
 */
function checkEncrypted(event: StreamResponse): void {
  if (event.message !== undefined) return checkParts(event.message.parts, 'message');
  if (event.artifactUpdate !== undefined) return checkParts(event.artifactUpdate.artifact.parts, 'artifact');
  if (event.statusUpdate !== undefined) return checkStatus(event.statusUpdate.status);
  const { artifacts = [], history = [], status } = event.task;
  for (const [at, { parts }] of artifacts.entries()) checkParts(parts, `task.artifacts[${at}]`);
  for (const [at, { role, parts }] of history.entries())
    if (role === 'ROLE_AGENT') checkParts(parts, `task.history[${at}]`);
  checkStatus(status);
}

function checkStatus(status: TaskStatus): void {
  if (status.message !== undefined && hasOwnSignature(status)) checkParts(status.message.parts, 'status.message');
}

function checkParts(parts: readonly Part[], field: string): void {
  const plain = parts.findIndex((part) => !isEncrypted(part));
  if (plain >= 0)
    throw new UntrustedContentError(
      `${field}.parts[${plain}]`,
      'must be encrypted: this client takes no plain answers',
    );
}
