import { openAsBlob, readFileSync } from 'node:fs';
import { A2AError, type Part } from 'parley-a2a';
import type { Client } from 'parley-a2a/client';
import { fileEndpoint, uploadFile } from 'parley-a2a/client';
import type { Invocation } from '../command-line/invocation.js';
import { TransferProgress } from '../output/transfer-progress.js';
import { BegunUpload } from './begun-upload.js';
import type { GivenPart, LargeFile } from './message-parts.js';

/**
 * Makes the final parts. Uploads large files if the card of the agent declares an upload url. Other agents get their
 * bytes in the message.
 */
export async function sentParts(
  parts: readonly GivenPart[],
  client: Client,
  invocation: Pick<Invocation, 'output' | 'settings'>,
): Promise<readonly Part[]> {
  const sent: Part[] = [];
  for (const part of parts) sent.push('path' in part ? await sentFile(part, client, invocation) : part);
  return sent;
}

async function sentFile(
  { path, filename, mediaType }: LargeFile,
  client: Client,
  { output, settings }: Pick<Invocation, 'output' | 'settings'>,
): Promise<Part> {
  const about = { filename, ...(mediaType !== undefined && { mediaType }) };
  const endpoint = fileEndpoint(client.card);
  if (endpoint === undefined) return { raw: readFileSync(path).toString('base64'), ...about };
  const tenant = settings.text('tenant');
  const timeoutMs = settings.duration('timeout');
  const begun = new BegunUpload(path, { ...about, tenant, server: endpoint.url });
  const from = begun.earlier();
  try {
    const file = await uploadFile(client, await openAsBlob(path), {
      ...about,
      ...(from !== undefined && { from }),
      onBegin: (url) => begun.keep(url),
      ...(tenant !== undefined && { tenant }),
      ...(timeoutMs !== undefined && { signal: AbortSignal.timeout(timeoutMs) }),
      onProgress: new TransferProgress(output, path).show,
    });
    begun.forget();
    return { url: file.url, filename, mediaType: mediaType ?? file.mediaType };
  } catch (error) {
    // After a lost connection or a timeout, the upload can be continued. After a refusal it cannot.
    if (error instanceof A2AError && error.code !== 'UNAVAILABLE') begun.forget();
    throw error;
  } finally {
    output.endProgress();
  }
}
