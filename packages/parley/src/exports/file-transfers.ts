import type { FileAgent } from '../client/files/file-agent.js';
import type { UploadedFile } from '../client/files/file-answers.js';
import type { DownloadOptions, FileDownload } from '../client/files/file-download.js';
import type { UploadOptions, UploadSource } from '../client/files/file-upload.js';
import { callerClock } from './runtime.js';

export {
  type FileAgent,
  type FileEndpoint,
  type FileProgress,
  fileEndpoint,
  isOwnUrl,
} from '../client/files/file-agent.js';
export type { UploadedFile } from '../client/files/file-answers.js';
export type { DownloadOptions, FileDownload, PartialFile } from '../client/files/file-download.js';
export type { UploadOptions, UploadSource } from '../client/files/file-upload.js';
export { FILES_EXTENSION } from '../operations/files-extension.js';

/**
 * Uploads a file to the place that the card of an agent declares. To send the file, put the returned url into a part of
 * a message. Checks the size and digest in the agent's answer. Uploads from 8 MiB resume after a lost connection, if
 * the agent accepts uploads in several requests and the content is no stream.
 * @throws A2AError UNSUPPORTED_OPERATION if the card declares no place for files.
 * @throws A2AError if the agent refuses the file, ConnectionError if the connection fails, or the reason of the signal.
 */
export async function uploadFile(
  agent: FileAgent,
  source: UploadSource,
  options: UploadOptions = {},
): Promise<UploadedFile> {
  // Loaded on demand: most clients do not transfer files.
  const { uploadFile: upload } = await import('../client/files/file-upload.js');
  return upload(agent, source, options, { clock: callerClock, random: Math.random });
}

/**
 * Downloads a file of an agent: a url, or a part that has one. The stream resumes after lost connections by range
 * requests, as long as the file stays the same.
 * @throws RefusedAddressError for a file on another origin, unless `otherOrigins` is given.
 * @throws A2AError if the agent refuses, or its file is too large. ConnectionError if it cannot be reached.
 */
export async function downloadFile(
  agent: FileAgent,
  file: string | { readonly url: string },
  options: DownloadOptions = {},
): Promise<FileDownload> {
  const { downloadFile: download } = await import('../client/files/file-download.js');
  return download(agent, file, options, { clock: callerClock, random: Math.random });
}
