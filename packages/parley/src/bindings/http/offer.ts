import type { WireCodec } from '../../codec/wire-codec.js';
import type { AgentCapabilities, AgentExtension } from '../../model/agent-card.js';
import { boundInterfaces } from '../../model/bound-interface.js';
import { isLater, majorMinor } from '../../operations/versions.js';
import type { BindingContext } from './binding-context.js';

/** The offer of an agent over one binding. */
export interface Offer {
  readonly capabilities: AgentCapabilities;
  readonly extensions: readonly AgentExtension[];
  /** True if a call must declare one of them. */
  readonly requiresExtension: boolean;
  /** The versions that are bound. */
  readonly declared: ReadonlySet<string>;
  /** By version, in the order of the codecs. */
  readonly codecs: ReadonlyMap<string, WireCodec>;
  /** True if only the version of a call may answer it. */
  readonly strictVersions: boolean;
}

/**
 * Reads the offer of an endpoint's card. A version is offered if an interface of the binding has it and a codec
 * supports it. The card need not list the interface. Without an interface, all codecs are offered.
 */
export function offerOf(
  { card, strictVersions = false }: Pick<BindingContext, 'card' | 'strictVersions'>,
  binding: string,
  codecs: readonly WireCodec[],
): Offer {
  const declared = new Set<string>();
  for (const { protocolBinding, protocolVersion } of boundInterfaces(card)) {
    if (protocolBinding === binding) declared.add(majorMinor(protocolVersion));
  }
  const offered = declared.size === 0 ? codecs : codecs.filter(({ version }) => declared.has(version));
  const { capabilities } = card;
  const { extensions = [] } = capabilities;
  return {
    capabilities,
    extensions,
    requiresExtension: extensions.some(({ required }) => required === true),
    declared,
    codecs: new Map(offered.map((codec) => [codec.version, codec])),
    strictVersions,
  };
}

/**
 * The codecs that answer a call by its method name or path, although it names an older version. Samples of the
 * specification mix names of 1.0 with version 0.3 (Spec §9.2), and other clients name no version.
 */
export function laterCodecs(
  { codecs, strictVersions }: Pick<Offer, 'codecs' | 'strictVersions'>,
  { version }: WireCodec,
): readonly WireCodec[] {
  return strictVersions ? [] : [...codecs.values()].filter((codec) => isLater(codec.version, version));
}
