import type { Authenticator } from '../auth/authenticator.js';
import type { BindingContext } from '../bindings/http/binding-context.js';
import type { Exchange, ExchangeRequest, ExchangeResponse } from '../bindings/http/exchange.js';
import { jsonRpcBinding, refusedJsonRpc } from '../bindings/jsonrpc/jsonrpc-binding.js';
import { PROTOCOL_VERSIONS, type ProtocolVersionName } from '../codec/protocol-versions.js';
import type { WireCodec } from '../codec/wire-codec.js';
import type { AgentCard, AgentExtension, AgentInterface } from '../model/agent-card.js';
import { type BoundInterface, listedInterfaces, withBoundInterfaces } from '../model/bound-interface.js';
import { isLegacy } from '../operations/versions.js';
import { LoadedOnDemand } from '../runtime/loaded-on-demand.js';
import { type AgentCards, agentCards } from './agent-cards.js';
import { keptByBase } from './base-url.js';
import type { LoadSignedCards } from './card-signing.js';
import { errorAnswer, refusedPlain } from './json-answer.js';
import { varying } from './middleware/answer-headers.js';
import type { Access } from './middleware/gate.js';
import { otherMethod } from './middleware/method-filter.js';
import { onDemand } from './middleware/on-demand.js';
import { type MountPaths, mountPaths } from './mount-paths.js';
import { prefersPage } from './origin.js';
import { refusalsNaming } from './protected-resource.js';
import type { ServedAgent } from './served-agent.js';

/** The path of the extended card for clients of 0.2: beside the url in the card. */
const OLD_EXTENDED_CARD = '/agent/authenticatedExtendedCard';

/** The mounted agent, its path and its versions. */
interface AgentMountOptions {
  readonly agent: ServedAgent;
  /** `/` or a path without a trailing slash. */
  readonly path: string;
  readonly versions: readonly ProtocolVersionName[];
  /** The time of the last change of the cards, in ms since the epoch. */
  readonly modifiedAt: number;
  readonly cardMaxAgeSeconds: number;
  /** Signs the cards. Absent: they have no signatures. */
  readonly signing?: LoadSignedCards | undefined;
  /** The base url to tell a client, or "" while there is none. */
  readonly baseUrl: (request: ExchangeRequest) => string;
  /** The page of the agent for browsers, under a base url. */
  readonly page: (mount: AgentMount, base: string) => Promise<ExchangeResponse>;
  /** The interfaces of further bindings under a base url. */
  readonly furtherInterfaces: (mount: AgentMount, base: string) => readonly BoundInterface[];
  /** The extensions in the card that belong to these interfaces. */
  readonly furtherExtensions: (mount: AgentMount, base: string) => readonly AgentExtension[];
}

/** The forms of a refusal, by what a request is for. */
type RefusalForm = 'jsonRpc' | 'httpJson' | 'plain';

interface View {
  readonly interfaces: readonly BoundInterface[];
  /** The public card. */
  readonly card: AgentCard;
  readonly context: BindingContext;
  readonly cards: AgentCards;
  readonly jsonRpc: Exchange;
  readonly httpJson: Exchange;
  /** Absent: the agent does not offer 0.2.5. */
  readonly oldExtendedCard: Exchange | undefined;
}

/**
 * One agent under a path: the card, JSON-RPC on the path itself, HTTP+JSON below it. At the root the bindings have
 * paths of their own, so that no tenant route meets another agent.
 */
export class AgentMount {
  readonly path: string;
  readonly #options: AgentMountOptions;
  /** The newest first, whatever the order in the options. */
  readonly #versions: readonly ProtocolVersionName[];
  readonly #paths: MountPaths;
  /** With and without a slash at the end. */
  readonly #jsonRpcPaths: ReadonlySet<string>;
  readonly #refusals: Readonly<Record<RefusalForm, Access['refuse']>>;
  /** By the form of a refusal. Absent: every caller is anonymous. */
  readonly #access: Readonly<Record<RefusalForm, Access>> | undefined;
  /** The agent as it stands under a base url. */
  #view = this.#views();

  constructor(options: AgentMountOptions) {
    this.path = options.path;
    this.#options = options;
    const known = Object.keys(PROTOCOL_VERSIONS) as ProtocolVersionName[];
    this.#versions = known.filter((name) => options.versions.includes(name));
    this.#paths = mountPaths(options.path);
    const { jsonRpc: rpcPath, httpJson: restPath } = this.#paths;
    this.#jsonRpcPaths = new Set([rpcPath, `${rpcPath}/`, ...(rpcPath === restPath ? [] : ['/'])]);
    const { authenticator } = options.agent;
    const isResource = authenticator?.protectedResource !== undefined;
    const naming = { mountPath: options.path, baseUrl: options.baseUrl };
    const accessWith = (authenticator: Authenticator, refuse: Access['refuse']): Access => ({
      authenticator,
      refuse: isResource ? refusalsNaming(refuse, naming) : refuse,
    });
    this.#refusals = { jsonRpc: refusedJsonRpc, httpJson: this.#httpJsonRefusal(), plain: refusedPlain };
    const { jsonRpc, httpJson, plain } = this.#refusals;
    this.#access = authenticator && {
      jsonRpc: accessWith(authenticator, jsonRpc),
      httpJson: accessWith(authenticator, httpJson),
      plain: accessWith(authenticator, plain),
    };
  }

  /** Path of the card below the origin. */
  get cardPath(): string {
    return this.#paths.card;
  }

  /** Path of JSON-RPC below the origin. */
  get jsonRpcPath(): string {
    return this.#paths.jsonRpc;
  }

  /** The context for a further binding of the agent. It is the same object until the card changes. */
  bindingContext(base = ''): BindingContext {
    return this.#view(base).context;
  }

  /** The interfaces under a base url, in the order of cards; without one the agent has no address yet. */
  interfaces(base: string): readonly BoundInterface[] {
    return this.#view(base).interfaces;
  }

  /** The public card as it stands under a base url. */
  card(base: string): AgentCard {
    return this.#view(base).card;
  }

  /** Makes the cards anew at their next use, because a binding has got its address. */
  renew(): void {
    this.#view = this.#views();
  }

  /** Answers the requests to the agent. */
  readonly exchange: Exchange = (request) => {
    const base = this.#options.baseUrl(request);
    const view = this.#view(base);
    if (request.method === 'POST' && this.#jsonRpcPaths.has(request.path)) return view.jsonRpc(request);
    if (request.method === 'POST' || !this.#isHere(request.path)) return this.#answer(request, view);
    if (prefersPage(request)) return this.#options.page(this, base);
    return this.#answer(request, view).then((answer) => varying(answer, 'Accept'));
  };

  /** True for the path of the mount, where a browser looks. */
  #isHere(path: string): boolean {
    return path === this.path || path === `${this.path}/`;
  }

  /** Answers a request that is no call over JSON-RPC. */
  #answer(request: ExchangeRequest, { cards, httpJson, oldExtendedCard }: View): Promise<ExchangeResponse> {
    const { method, path } = request;
    const paths = this.#paths;
    if (this.#jsonRpcPaths.has(path)) {
      const message = `JSON-RPC is served here: it takes POST. The agent card is at ${paths.card}`;
      return Promise.resolve(otherMethod(method, { methods: ['POST'], message }));
    }
    if (path === paths.card) return cards.current(request);
    if (path === paths.oldCard && cards.old !== undefined) return cards.old(request);
    const oldExtendedPath = `${paths.jsonRpc === paths.httpJson ? paths.httpJson : ''}${OLD_EXTENDED_CARD}`;
    if (path === oldExtendedPath && oldExtendedCard !== undefined) return oldExtendedCard(request);
    if (path.startsWith(`${paths.httpJson}/`)) return httpJson(request);
    return Promise.resolve(errorAnswer({ status: 404, message: 'Nothing is served here' }));
  }

  /** The rule for the sender of a request; `undefined` if all callers may send it, as they may read the cards. */
  accessTo(request: ExchangeRequest): Access | undefined {
    const access = this.#access;
    return access === undefined || this.#isCard(request.path) ? undefined : access[this.#formOf(request)];
  }

  /** The form in which a middleware refuses a request. */
  refusalOf(request: ExchangeRequest): Access['refuse'] {
    return this.#isCard(request.path) ? refusedPlain : this.#refusals[this.#formOf(request)];
  }

  /** Loads the code of HTTP+JSON with the first refusal. */
  #httpJsonRefusal(): Access['refuse'] {
    const refuse = new LoadedOnDemand(async () =>
      (await httpJsonCode()).httpJsonRefusals({
        codecs: this.#codecs('httpJson'),
        basePath: this.#paths.httpJson,
        versionWhenAbsent: this.bindingContext().versionWhenAbsent,
      }),
    );
    return async (refused) => (await refuse.get())(refused);
  }

  #isCard(path: string): boolean {
    const { card, oldCard } = this.#paths;
    return path === card || (path === oldCard && this.#versions.some(isLegacy));
  }

  #formOf({ method, path }: ExchangeRequest): RefusalForm {
    if (this.#jsonRpcPaths.has(path)) return method === 'POST' ? 'jsonRpc' : 'plain';
    return path.startsWith(this.#paths.httpJson) ? 'httpJson' : 'plain';
  }

  /** The agent that is mounted. */
  get agent(): ServedAgent {
    return this.#options.agent;
  }

  /** The paths of the agent, for its description. */
  get paths(): MountPaths {
    return this.#paths;
  }

  /** The versions it is offered in, the newest first. */
  get versions(): readonly ProtocolVersionName[] {
    return this.#versions;
  }

  #views(): (base: string) => View {
    return keptByBase((base) => this.#makeView(base));
  }

  #makeView(base: string): View {
    const { agent, modifiedAt, cardMaxAgeSeconds: maxAgeSeconds, signing, furtherExtensions } = this.#options;
    const interfaces = base === '' ? [] : this.#interfaces(base);
    const listed = agent.card(listedInterfaces(interfaces, ['public']), furtherExtensions(this, base));
    const card = withBoundInterfaces(listed, interfaces);
    const context = agent.bindingContext(card, listedInterfaces(interfaces, ['public', 'extended']));
    const httpJsonAt = (codecs: readonly WireCodec[], path: string) =>
      onDemand(async () => (await httpJsonCode()).httpJsonBinding(context, codecs, path));
    return {
      interfaces,
      card,
      context,
      cards: agentCards({ card, versions: this.#versions, modifiedAt, maxAgeSeconds, signing }),
      jsonRpc: jsonRpcBinding(context, this.#codecs('jsonRpc')),
      httpJson: httpJsonAt(this.#codecs('httpJson'), this.#paths.httpJson),
      // The path is that of 0.2.5, so that the card says this version.
      oldExtendedCard: this.#versions.includes('0.2.5')
        ? httpJsonAt([PROTOCOL_VERSIONS['0.2.5'].httpJson], this.path === '/' ? '' : this.path)
        : undefined,
    };
  }

  #codecs(binding: 'jsonRpc' | 'httpJson') {
    return this.#versions.map((name) => PROTOCOL_VERSIONS[name][binding]);
  }

  #interfaces(base: string): readonly BoundInterface[] {
    const { jsonRpc, httpJson } = this.#paths;
    const further = this.#options.furtherInterfaces(this, base);
    const order = this.#versions.map((name) => PROTOCOL_VERSIONS[name].jsonRpc.version);
    const own = this.#versions.flatMap((name) => {
      const { version: protocolVersion } = PROTOCOL_VERSIONS[name].jsonRpc;
      // Clients of 0.2.5 look for endpoints beside the url. With a slash at the end of the url, these are inside of the
      // mount.
      const rpc = name === '0.2.5' ? `${this.path === '/' ? '' : this.path}/` : jsonRpc;
      return [
        { url: `${base}${rpc}`, protocolBinding: 'JSONRPC', protocolVersion },
        { url: `${base}${httpJson}`, protocolBinding: 'HTTP+JSON', protocolVersion },
      ];
    });
    // The newest version first, whatever the binding.
    const rank = ({ protocolVersion }: AgentInterface) => order.indexOf(protocolVersion) >>> 0;
    return [...own, ...further].sort((one, other) => rank(one) - rank(other));
  }
}

/** Many agents get calls over JSON-RPC only. */
const httpJsonCode = () => import('../bindings/http-json/http-json-binding.js');
