import { operationId, securityOf } from '../../bindings/http/described-agent.js';
import { errorBodySchema } from '../../bindings/http/error-schema.js';
import type { Components } from '../../openapi/components.js';
import type {
  DescribedAnswer,
  DescribedOperation,
  Header,
  Parameter,
  PathItem,
  Schema,
} from '../../openapi/document.js';
import type { AgentMount } from '../agent-mount.js';
import { jsonOf, objectOf } from '../openapi/described-answers.js';
import { groupOf } from '../openapi/described-mount.js';
import type { Describe } from '../openapi/server-document.js';

const TEXT: Schema = { type: 'string' };
const TIME: Schema = { type: 'string', format: 'date-time' };
const COUNT: Schema = { type: 'integer', minimum: 0 };
const BYTES: Schema = { type: 'string', format: 'binary' };
const ID: Schema = { type: 'string', pattern: '^[0-9a-f]{32}$' };
const FILE: Schema = objectOf({
  id: ID,
  url: TEXT,
  mediaType: TEXT,
  size: COUNT,
  digest: TEXT,
  createdAt: TIME,
  expiresAt: TIME,
});
const FILE_ID: Parameter = { name: 'id', in: 'path', required: true, description: 'The id of the file.', schema: ID };
const TENANT: Parameter = { name: 'tenant', in: 'query', description: 'A tenant of the caller.', schema: TEXT };
const ETAG: Header = { description: 'The entity tag of the file.', schema: TEXT };
const OFFSET: Header = { description: 'The bytes that the server has.', schema: COUNT };
const LOCATION: Header = { description: 'The url of the file.', schema: TEXT };

/** The files of these agents for a document. */
export function describedFiles(mounts: readonly AgentMount[], isResumable: boolean): Describe {
  return (components) => ({
    tags: [],
    paths: Object.fromEntries(mounts.flatMap((mount) => entriesOf(mount, components, isResumable))),
  });
}

function entriesOf(mount: AgentMount, components: Components, isResumable: boolean): readonly [string, PathItem][] {
  const endpoint = mount.bindingContext();
  const { files } = mount.paths;
  const name = groupOf(mount, components);
  const tag = `${endpoint.card.name} at ${mount.path}`;
  const security = securityOf({ endpoint, languages: [], path: files, tag, name, components });
  const refused = jsonOf('The request is refused', errorBodySchema(components));
  const file = jsonOf('The file', { ...components.add('File', FILE) });
  const operation = (verb: string, { summary, parameters = [], body, answers }: FileOperation): DescribedOperation => ({
    operationId: operationId(name, verb),
    tags: [tag],
    summary,
    parameters: [TENANT, ...parameters],
    ...(body !== undefined && { requestBody: { required: false, content: { [body]: { schema: BYTES } } } }),
    responses: { ...answers, default: refused },
    ...security,
  });
  const headers = isResumable ? UPLOAD_HEADERS : [];
  const post = operation('uploadFile', {
    summary: isResumable ? 'Store a file, or begin an upload in several requests' : 'Store a file',
    parameters: [
      header('Content-Digest', 'The SHA-256 of the body: sha-256=:base64:'),
      header('Content-Disposition', 'The name of the file'),
      ...headers,
    ],
    body: '*/*',
    answers: { 201: { ...file, headers: { Location: LOCATION, ETag: ETAG } } },
  });
  const content = { '*/*': { schema: BYTES } };
  const bytes = { description: 'The bytes', headers: { ETag: ETAG }, content };
  const get = operation('readFile', {
    summary: 'Read a file',
    parameters: [FILE_ID, header('Range', 'One range of bytes'), header('If-Range', 'The entity tag of the range')],
    answers: { 200: bytes, 206: { ...bytes, description: 'The bytes of the range' } },
  });
  const head = operation('headFile', {
    summary: isResumable ? 'Read the facts of a file, or the offset of an upload' : 'Read the facts of a file',
    parameters: [FILE_ID],
    answers: { 200: { description: 'It is there', headers: { ...(isResumable && { 'Upload-Offset': OFFSET }) } } },
  });
  const remove = operation('deleteFile', {
    summary: 'Delete a file',
    parameters: [FILE_ID],
    answers: { 204: { description: 'It is deleted' } },
  });
  const patch = operation('appendToUpload', {
    summary: 'Append bytes to an upload',
    parameters: [FILE_ID, { ...header('Upload-Offset', 'The place of the first byte'), required: true, schema: COUNT }],
    body: 'application/offset+octet-stream',
    answers: { 200: file, 204: { description: 'More bytes are missing', headers: { 'Upload-Offset': OFFSET } } },
  });
  return [
    [files, { post }],
    [`${files}/{id}`, { get, head, delete: remove, ...(isResumable && { patch }) }],
  ];
}

interface FileOperation {
  readonly summary: string;
  readonly parameters?: readonly Parameter[];
  /** The type of the body. Absent: the request has none. */
  readonly body?: string;
  readonly answers: Readonly<Record<number, DescribedAnswer>>;
}

const UPLOAD_HEADERS: readonly Parameter[] = [
  { ...header('Upload-Length', 'The bytes of the whole file: begins an upload, without a body'), schema: COUNT },
  header('Upload-Metadata', 'filename and filetype of an upload, in base64'),
  header('Repr-Digest', 'The SHA-256 of the whole file: sha-256=:base64:'),
];

function header(name: string, description: string): Parameter {
  return { name, in: 'header', description: `${description}.`, schema: TEXT };
}
