import { createSecureContext } from 'node:tls';
import {
  CredentialsError,
  checkOptions,
  eitherOf,
  func,
  nonEmpty,
  type OptionSchemas,
  OptionsError,
  optionObject,
  SchemeCredentials,
  Type,
  texts,
} from 'parley-a2a/kit';
import type * as Undici from 'undici';

/** The identity of a client in the TLS handshake. PEM values may be text. */
export interface TlsIdentity {
  /** The certificate and those up to the one that servers trust, as PEM. */
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
  /** Of the key. */
  readonly passphrase?: string;
  /** Authorities of server certificates. Default: those of Node.js. */
  readonly ca?: string | Buffer | readonly (string | Buffer)[];
}

/** A client with a certificate. */
export interface MutualTlsOptions {
  /** Origins that get the certificate, such as `https://agent.example.com`. Other connections have none. */
  readonly origins: readonly string[];
  /** A function is called for every new connection, so that a renewed certificate takes effect without a restart. */
  readonly identity: TlsIdentity | (() => TlsIdentity);
  /** The name of a scheme in the card. Only this scheme gets the certificate. Default: every scheme for mutual TLS. */
  readonly scheme?: string;
}

/** Checked separately: the values may be strings or buffers. */
const pem = Type.Optional(Type.Unknown());
const identities: OptionSchemas<TlsIdentity> = { cert: pem, key: pem, passphrase: pem, ca: pem };
const schemas: OptionSchemas<MutualTlsOptions> = {
  origins: texts,
  identity: eitherOf([func, optionObject(identities)], 'must be an object with cert and key, or a function'),
  scheme: Type.Optional(nonEmpty),
};
const mutualTlsSchema = optionObject(schemas);

/** Credentials for mutual TLS, and a `fetch` whose connections have the certificate. */
export interface MutualTls {
  readonly credentials: SchemeCredentials;
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  /** Ends its connections. */
  close(): Promise<void>;
}

/**
 * A client certificate for mutual TLS schemes.
 * @throws OptionsError if a url of `origins` is no origin, or if the identity cannot be used.
 */
export function mutualTls(options: MutualTlsOptions): MutualTls {
  const checked = checkOptions({ subject: 'mutualTls', schema: mutualTlsSchema, options });
  const { origins, identity, scheme: schemeName } = checked;
  const problems = origins
    .filter((origin) => !isHttpsOrigin(origin))
    .map((text) => `origins: ${text} is no origin of https`);
  if (typeof identity !== 'function' && !isUsable(identity)) problems.push(UNUSABLE);
  if (problems.length > 0) throw new OptionsError('mutualTls', problems);
  const shown = new Set(origins);
  let connections: Promise<Connections> | undefined;
  return {
    credentials: new SchemeCredentials([
      {
        title: `a certificate for ${origins.join(', ')}`,
        schemeName,
        fits: (scheme) => scheme !== undefined && scheme.mtlsSecurityScheme !== undefined,
        prove: async ({ url }) => {
          if (shown.has(new URL(url).origin)) return {};
          throw new CredentialsError(
            'missing',
            `The certificate is for ${origins.join(', ')}, not for ${new URL(url).origin}`,
          );
        },
      },
    ]),
    fetch: async (url, init) => {
      connections ??= connectionsOf(shown, identity);
      const { fetch: send, agent } = await connections;
      // A cast between equal types: those of the host come from its own copy of undici.
      const request = { ...init, dispatcher: agent } as unknown as Parameters<typeof send>[1];
      return (await send(url, request)) as unknown as Response;
    },
    close: async () => (await connections)?.agent.destroy(),
  };
}

interface Connections {
  readonly fetch: typeof Undici.fetch;
  readonly agent: Undici.Agent;
}

async function connectionsOf(shown: ReadonlySet<string>, identity: MutualTlsOptions['identity']): Promise<Connections> {
  const undici = await import('undici');
  const connect = connector(undici, identity);
  const agent = new undici.Agent({
    factory: (origin, options) =>
      new undici.Pool(origin, shown.has(new URL(origin).origin) ? { ...options, connect } : options),
  });
  return { fetch: undici.fetch, agent };
}

const UNUSABLE = 'identity: the certificate, the key or the authorities cannot be used, or do not belong together';

/** A connector for each identity; one identity keeps its sessions. */
function connector(undici: typeof Undici, identity: MutualTlsOptions['identity']): Undici.buildConnector.connector {
  let last: { readonly identity: TlsIdentity; readonly connect: Undici.buildConnector.connector } | undefined;
  return (options, callback) => {
    try {
      const now = typeof identity === 'function' ? identity() : identity;
      if (last?.identity !== now) last = { identity: now, connect: undici.buildConnector(secureOptions(now)) };
      last.connect(options, callback);
    } catch {
      // An error about a key may contain a part of the key.
      callback(new OptionsError('mutualTls', [UNUSABLE]), null);
    }
  };
}

function isUsable(identity: TlsIdentity): boolean {
  try {
    createSecureContext(secureOptions(identity));
    return true;
  } catch {
    return false;
  }
}

function secureOptions({ cert, key, passphrase, ca }: TlsIdentity) {
  const authorities = ca === undefined ? undefined : [ca].flat();
  return { cert, key, ...(passphrase !== undefined && { passphrase }), ...(authorities && { ca: authorities }) };
}

function isHttpsOrigin(text: string): boolean {
  return text.startsWith('https://') && URL.canParse(text) && new URL(text).origin === text;
}
