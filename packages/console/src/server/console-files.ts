import { readFile } from 'node:fs/promises';

export type { InboxAnswer, InboxReceiverOptions, InboxRequest, Receiver } from './inbox.js';
export { type OAuthRelayOptions, oauthRelay, type RelayedAnswer } from './oauth-relay.js';
export { PushInboxes, type PushInboxesOptions } from './push-inboxes.js';

/** A file of the console. */
export interface ConsoleFile {
  readonly type: string;
  readonly text: string;
}

/** The files of the console by name, and the names of those that its page refers to. */
export interface ConsoleFiles {
  readonly script: string;
  readonly style: string;
  readonly icon: string;
  /** Further scripts of the first view. */
  readonly preloads: readonly string[];
  readonly files: ReadonlyMap<string, ConsoleFile>;
}

/** The list of files that the build writes. */
interface Manifest extends Omit<ConsoleFiles, 'files'> {
  readonly files: readonly { readonly name: string; readonly type: string }[];
}

const FOLDER = new URL('../../bundle/', import.meta.url);

/** Reads the built files. A server reads them once. */
export async function consoleFiles(): Promise<ConsoleFiles> {
  const { files, ...names } = JSON.parse(await readText('manifest.json')) as Manifest;
  const texts = files.map(async ({ name, type }) => [name, { type, text: await readText(name) }] as const);
  return { ...names, files: new Map(await Promise.all(texts)) };
}

function readText(name: string): Promise<string> {
  return readFile(new URL(name, FOLDER), 'utf8');
}
