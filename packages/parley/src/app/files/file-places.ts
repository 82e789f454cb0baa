import { repeatedFieldError } from '../../errors/standard-errors.js';
import { isFileId } from '../../files/file-store.js';
import type { AgentMount } from '../agent-mount.js';

/** A file of this server that a url names. */
export interface NamedFile {
  readonly id: string;
  readonly tenant: string;
}

/** The url of a file. The tenant is a part of it. */
export function fileUrl(base: string, mount: AgentMount, { id, tenant }: NamedFile): string {
  const query = tenant === '' ? '' : `?tenant=${encodeURIComponent(tenant)}`;
  return `${base}${mount.paths.files}/${id}${query}`;
}

/** The file of an agent that a url names; `undefined` if it names none. `base` absent: any origin. */
export function namedFile(url: string, mounts: readonly AgentMount[], base: string | undefined): NamedFile | undefined {
  const target = URL.parse(url);
  if (target === null || !/^https?:$/.test(target.protocol) || target.username !== '' || target.password !== '') {
    return undefined;
  }
  const { origin, pathname, searchParams } = target;
  const prefix = base === undefined ? undefined : URL.parse(base);
  if (prefix !== undefined && prefix?.origin !== origin) return undefined;
  const id = pathname.slice(-32);
  const folder = pathname.slice(0, -33);
  const isOurs = mounts.some(({ paths }) => {
    if (prefix === undefined) return folder.endsWith(paths.files);
    return folder === `${prefix?.pathname.replace(/\/$/, '') ?? ''}${paths.files}`;
  });
  if (!isOurs || !isFileId(id) || pathname.at(-33) !== '/') return undefined;
  const [tenant = '', ...others] = searchParams.getAll('tenant');
  return others.length > 0 ? undefined : { id, tenant };
}

/**
 * The tenant that the query of a request names; "" for none.
 * @throws InvalidParamsError if it names two.
 */
export function tenantIn(query: string): string {
  const [tenant = '', ...others] = URL.parse(`http://files/?${query}`)?.searchParams.getAll('tenant') ?? [];
  if (others.length > 0) throw repeatedFieldError('tenant');
  return tenant;
}
