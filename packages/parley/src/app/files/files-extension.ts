import { OptionsError } from '../../errors/options-error.js';
import type { FileScope, FileStore } from '../../files/file-store.js';
import { type MediaTypeRules, mediaTypesSchema } from '../../files/media-type-rules.js';
import { FILES_EXTENSION, TUS_VERSION } from '../../operations/files-extension.js';
import { checkOptions } from '../../options/check-options.js';
import { type OptionSchemas, optionObject, positive, withMethod } from '../../options/option-schemas.js';
import * as Type from '../../options/option-types.js';
import { interceptedHandler, type ServerInterceptor } from '../../server/intercepted-handler.js';
import type { TurnPorts } from '../../server/turn-ports.js';
import type { AgentMount } from '../agent-mount.js';
import type { HostEndpoint, HostExtension, HostView } from '../host-extension.js';
import { refusedPlain } from '../json-answer.js';
import type { MiddlewareName } from '../middleware/request-way.js';
import { refusalsNaming } from '../protected-resource.js';
import { FileEndpoint, type FileEndpointOptions } from './file-endpoint.js';
import { FileKeeper, type FileRules } from './file-keeper.js';
import { type FilePartsOptions, filePartsInterceptor } from './file-parts.js';
import { fileUrl, type NamedFile, namedFile } from './file-places.js';
import { ResumableUploads } from './resumable-uploads.js';
import { storingAgent } from './storing-agent.js';
import { TurnFileAccess } from './turn-file-access.js';

export { FILES_EXTENSION };

/** The options of files. Sizes are in bytes, times in ms. */
export interface FileTransferOptions {
  /** The store of the files. Required. */
  readonly store: FileStore;
  /** The most bytes of one file. Default: 1 GiB. */
  readonly maxBytes?: number;
  /**
   * The most bytes of all files that one user of one agent has, in all tenants. Small files count 4 KiB. Anonymous
   * callers have one quota together. Default: 4 GiB.
   */
  readonly ownerBytes?: number;
  /** The time until a file is deleted. Default: 24 hours. */
  readonly expiryMs?: number;
  /** The types that are taken. Default: all whose bytes fit their declaration. */
  readonly mediaTypes?: MediaTypeRules;
  /** Larger raw parts of messages and of agents become files. Default: 256 KiB. */
  readonly inlineBytes?: number;
  /** The most bytes of files in one answer or event for clients that take no urls. Default: 8 MiB. */
  readonly handedBytes?: number;
  /** The longest pause of an upload. Default: 30 s. */
  readonly idleMs?: number;
  /** The time until an upload in several requests is deleted, if it is not whole by then. Default: 6 hours. */
  readonly unfinishedMs?: number;
  /** The longest time of one request of an upload. Default: 1 hour. */
  readonly uploadMs?: number;
  /** The pause between two sweeps of expired files. Default: 10 minutes. */
  readonly sweepEveryMs?: number;
}

const amount = Type.Optional(positive);
const schemas: OptionSchemas<FileTransferOptions> = {
  store: withMethod('put'),
  maxBytes: amount,
  ownerBytes: amount,
  expiryMs: amount,
  mediaTypes: Type.Optional(mediaTypesSchema),
  inlineBytes: amount,
  handedBytes: amount,
  idleMs: amount,
  unfinishedMs: amount,
  uploadMs: amount,
  sweepEveryMs: amount,
};
const fileTransferSchema = optionObject(schemas);

const MIB = 1_048_576;
const INLINE_BYTES = 262_144;
const MINUTE_MS = 60_000;
/** The middlewares that read or write a body. */
const WITHOUT: readonly MiddlewareName[] = ['streams', 'nosniff', 'compression'];

/** Files beside the protocol for all agents of a host, at a path of each mount. */
export function filesExtension(options: FileTransferOptions): HostExtension {
  checkOptions({ subject: 'fileTransfer', schema: fileTransferSchema, options });
  const rules: FileRules = {
    maxBytes: options.maxBytes ?? 1024 * MIB,
    ownerBytes: options.ownerBytes ?? 4096 * MIB,
    expiryMs: options.expiryMs ?? 24 * 60 * MINUTE_MS,
    unfinishedMs: options.unfinishedMs ?? 6 * 60 * MINUTE_MS,
    mediaTypes: options.mediaTypes ?? {},
  };
  const times = { idleMs: options.idleMs ?? 30_000, totalMs: options.uploadMs ?? 60 * MINUTE_MS };
  const { inlineBytes = INLINE_BYTES, handedBytes = 8 * MIB } = options;
  let served: ServedFiles | undefined;
  return {
    aroundAgent: ({ id, hasEngine }) => {
      if (!hasEngine) return undefined;
      let made: ServerInterceptor | undefined;
      const interceptor: ServerInterceptor = (call, next) => {
        made ??= served?.parts({ agent: id, inlineBytes, handedBytes });
        return made === undefined ? next(call) : made(call, next);
      };
      return {
        handler: (handler) => interceptedHandler(handler, [interceptor]),
        executor: (executor) => storingAgent(executor, inlineBytes),
      };
    },
    takesLongBodies: true,
    fileStore: options.store,
    turnPorts: {
      files: (turn) => {
        if (served === undefined) throw new OptionsError('context.files', ['the server has not started']);
        return served.access(turn);
      },
    },
    endpoints: (host) => {
      const keeper = new FileKeeper({ store: options.store, rules, clock: host.clock, ids: host.ids });
      served = new ServedFiles(host, keeper, options.sweepEveryMs ?? 10 * MINUTE_MS);
      const { clock, ids } = host;
      const store = options.store.uploads;
      const uploads = store === undefined ? undefined : new ResumableUploads({ store, rules, clock, ids });
      return host.mounts.map((mount) => endpointOf(mount, host, { keeper, uploads, times }));
    },
    describe: async ({ mounts }) => {
      const { describedFiles } = await import('./described-files.js');
      return describedFiles(mounts, options.store.uploads !== undefined);
    },
    cardExtensions: (mount, base) => [
      {
        uri: FILES_EXTENSION,
        description: 'Files are sent to the url with POST. Parts name them by their urls.',
        required: false,
        params: {
          url: `${base}${mount.paths.files}`,
          maxBytes: rules.maxBytes,
          ...(options.store.uploads !== undefined && { resumable: TUS_VERSION }),
        },
      },
    ],
    listen: async () => options.store.open?.(),
    close: async () => {
      served?.close();
      await options.store.close?.();
    },
  };
}

function endpointOf(
  mount: AgentMount,
  host: HostView,
  files: Pick<FileEndpointOptions, 'keeper' | 'uploads' | 'times'>,
): HostEndpoint {
  const { authenticator } = mount.agent;
  const isResource = authenticator?.protectedResource !== undefined;
  const naming = { mountPath: mount.path, baseUrl: host.baseUrl };
  const refuse = isResource ? refusalsNaming(refusedPlain, naming) : refusedPlain;
  return {
    path: mount.paths.files,
    items: /^[0-9a-f]{32}$/,
    exchange: new FileEndpoint({ host, mount, ...files }).exchange,
    access: authenticator === undefined ? 'open' : { authenticator, refuse },
    refuse,
    without: WITHOUT,
  };
}

/** The files of a host that runs. */
class ServedFiles {
  readonly #host: HostView;
  readonly #keeper: FileKeeper;
  #stopSweeps: () => void = () => {};
  #isClosed = false;

  constructor(host: HostView, keeper: FileKeeper, sweepEveryMs: number) {
    this.#host = host;
    this.#keeper = keeper;
    const sweep = async () => {
      try {
        await keeper.store.sweep();
      } catch (error) {
        host.logger.error('expired files could not be removed', { error });
      }
      if (!this.#isClosed) this.#stopSweeps = host.clock.after(sweepEveryMs, () => void sweep());
    };
    this.#stopSweeps = host.clock.after(0, () => void sweep());
  }

  /** The parts of an agent that become files, and files that become parts. */
  parts(about: Pick<FilePartsOptions, 'agent' | 'inlineBytes' | 'handedBytes'>): ServerInterceptor {
    return filePartsInterceptor({
      ...about,
      keeper: this.#keeper,
      extension: FILES_EXTENSION,
      logger: this.#host.logger,
      urlOf: (scope, id) => this.#urlOf(scope, id),
      named: (url) => this.#named(url, about.agent),
    });
  }

  /** The files of a turn. */
  access({ scope, signal, patience }: Parameters<NonNullable<TurnPorts['files']>>[0]): TurnFileAccess {
    return new TurnFileAccess({
      keeper: this.#keeper,
      scope,
      signal,
      patience,
      urlOf: (id) => {
        const url = this.#urlOf(scope, id);
        if (url === undefined) throw new OptionsError('context.files', ['the server needs the option url']);
        return url;
      },
      named: (url) => this.#named(url, scope.agent),
      logger: this.#host.logger,
    });
  }

  /** The url of a file; `undefined` while the server has no address. */
  #urlOf({ agent, tenant }: FileScope, id: string): string | undefined {
    const base = this.#host.baseUrl();
    const [mount] = this.#mountsOf(agent);
    return base === '' || mount === undefined ? undefined : fileUrl(base, mount, { id, tenant });
  }

  /** Behind proxies the server has several addresses, and knows them only while a request is there. */
  #named(url: string, agent: string): NamedFile | undefined {
    const { baseUrl, forwarding } = this.#host;
    return namedFile(url, this.#mountsOf(agent), forwarding === undefined ? baseUrl() || undefined : undefined);
  }

  #mountsOf(agent: string): readonly AgentMount[] {
    return this.#host.mounts.filter((mount) => mount.agent.id === agent);
  }

  close(): void {
    this.#isClosed = true;
    this.#stopSweeps();
  }
}
