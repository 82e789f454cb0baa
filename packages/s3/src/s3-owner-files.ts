import type { FileScope, StoredFile } from 'parley-a2a/files';
import type { ErasedFiles, FileArrivals, OwnedFile, OwnerFiles } from 'parley-a2a/kit';
import type { OwnerQuery } from 'parley-a2a/storage';
import type { S3Bucket } from './s3-bucket.js';
import {
  agentFolder,
  DATA,
  FACTS,
  type KeyFacts,
  ownerName,
  RESTS,
  readKey,
  readName,
  tenantName,
  UPLOADS,
} from './s3-keys.js';
import { listedFolders, listedObjects, openUploads } from './s3-listing.js';

/** The parts of the store that owner operations need. */
interface S3OwnerFilesOptions {
  readonly bucket: S3Bucket;
  readonly arrivals: FileArrivals;
  /** Reads the file of facts; `undefined` if they were removed. */
  readonly fileOf: (facts: KeyFacts) => Promise<StoredFile | undefined>;
}

/** The kinds of keys, in the order in which an erasure removes them: facts make files visible. */
const KINDS = [FACTS, UPLOADS, RESTS, DATA] as const;

/** The files of users in a bucket. All keys of a user are below one folder of each agent. */
export class S3OwnerFiles implements OwnerFiles {
  readonly #options: S3OwnerFilesOptions;

  constructor(options: S3OwnerFilesOptions) {
    this.#options = options;
  }

  async *list(owner: OwnerQuery): AsyncGenerator<OwnedFile> {
    const { bucket, fileOf } = this.#options;
    for (const folder of await this.#foldersOf(owner, [FACTS])) {
      for await (const { key } of listedObjects(bucket, `${FACTS}${folder}`)) {
        const facts = readKey(FACTS, key);
        const file = facts && (await fileOf(facts));
        if (facts !== undefined && file !== undefined) yield { scope: scopeOf(facts.place, owner), file };
      }
    }
  }

  async count(owner: OwnerQuery): Promise<ErasedFiles> {
    const counts = { files: 0, uploads: 0 };
    for (const folder of await this.#foldersOf(owner, KINDS)) {
      for await (const _ of listedObjects(this.#options.bucket, `${FACTS}${folder}`)) counts.files += 1;
      for await (const _ of listedObjects(this.#options.bucket, `${UPLOADS}${folder}`)) counts.uploads += 1;
    }
    return counts;
  }

  async erase(owner: OwnerQuery): Promise<ErasedFiles> {
    const { bucket, arrivals } = this.#options;
    arrivals.erase(owner);
    const counts = { files: 0, uploads: 0 };
    for (const folder of await this.#foldersOf(owner, KINDS)) {
      for (const kind of KINDS) {
        if (kind === DATA) await this.#abortUploads(`${DATA}${folder}`);
        for await (const { key } of listedObjects(bucket, `${kind}${folder}`)) {
          await bucket.text({ method: 'DELETE', key });
          if (kind === FACTS) counts.files += 1;
          if (kind === UPLOADS) counts.uploads += 1;
        }
      }
    }
    return counts;
  }

  /** Aborts multipart uploads, including those of other processes. One list has at most a thousand. */
  async #abortUploads(folder: string): Promise<void> {
    const { bucket } = this.#options;
    for (let open = await openUploads(bucket, folder); open.length > 0; open = await openUploads(bucket, folder)) {
      for (const { key, uploadId } of open) await bucket.text({ method: 'DELETE', key, query: { uploadId } });
    }
  }

  /** The folders of an owner, one for each agent, or for each agent with the named tenant. */
  async #foldersOf(owner: OwnerQuery, kinds: readonly string[]): Promise<readonly string[]> {
    const { bucket } = this.#options;
    const agents = new Set<string>();
    if (owner.agent !== undefined) agents.add(await agentFolder(owner.agent));
    else {
      for (const kind of kinds) {
        for await (const folder of listedFolders(bucket, kind)) agents.add(folder.slice(kind.length));
        // Unfinished parts are in no list of objects.
        if (kind === DATA) for (const { key } of await openUploads(bucket, DATA)) agents.add(firstFolder(key));
      }
    }
    const below = `${await ownerName(owner.owner)}/${owner.tenant === undefined ? '' : `${await tenantName(owner.tenant)}/`}`;
    return [...agents].map((agent) => `${agent}${below}`);
  }
}

function firstFolder(key: string): string {
  const rest = key.slice(DATA.length);
  return rest.slice(0, rest.indexOf('/') + 1);
}

/** The scope of a place. Of a long name only the hash is known. */
function scopeOf(place: string, { owner }: OwnerQuery): FileScope {
  const [agent = '', , tenant = ''] = place.split('/');
  return { agent: readName(agent.slice(1)), tenant: readName(tenant.slice(1)), owner };
}
