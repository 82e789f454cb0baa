import { exportJWK, FlattenedSign, generateKeyPair, type JWK } from 'jose';
import { expect } from 'vitest';
import { canonicalCard } from '../../packages/parley/src/codec/v1_0/canonical-card.js';
import {
  type Fetch,
  fetchAgentCard,
  type SignatureOptions,
  type SignatureVerdict,
} from '../../packages/parley/src/exports/client.js';
import type { AgentCard } from '../../packages/parley/src/model/agent-card.js';
import { canonicalJson } from '../../packages/parley/src/model/canonical-json.js';
import type { JsonObject } from '../../packages/parley/src/model/json.js';

/** A card with every kind of member. */
export const CARD = {
  name: 'Übersetzer',
  description: '',
  version: '1.0.0',
  provider: { url: 'https://agent.example', organization: 'Example' },
  supportedInterfaces: [{ url: 'https://agent.example/rpc', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: { streaming: false, extensions: [{ uri: 'urn:x', params: { limit: 3 } }] },
  securitySchemes: { key: { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } } },
  securityRequirements: [{ schemes: { key: {} } }],
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 's', name: 'S', description: 'D', tags: ['t'] }],
  documentationUrl: 'https://agent.example/docs',
} satisfies AgentCard;

/** A public key, and a function that signs with its private key. */
export interface Signer {
  readonly jwk: JWK & { readonly kty: string; readonly kid: string };
  readonly sign: (payload: string | Uint8Array, header?: object) => Promise<JsonObject>;
}

/** A new pair of keys by this name. */
export async function signer(kid: string, alg = 'ES256'): Promise<Signer> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const jwk = await exportJWK(publicKey);
  return {
    jwk: { ...jwk, kty: jwk.kty ?? '', kid },
    sign: async (payload, header = {}) => {
      const bytes = typeof payload === 'string' ? new TextEncoder().encode(payload) : payload;
      const jws = new FlattenedSign(bytes).setProtectedHeader({ alg, kid, typ: 'JOSE', ...header });
      const { protected: named = '', signature } = await jws.sign(privateKey);
      return { protected: named, signature };
    },
  };
}

/** The text that a signature of the card covers. */
export const textOf = (card: object) => canonicalJson(canonicalCard(card));

/** The verdicts on a card, and the card where there is one, else the error. */
export async function verifyCard(card: object, signatures: SignatureOptions, more: { fetch?: Fetch } = {}) {
  const verdicts: SignatureVerdict[] = [];
  const onVerdicts = (all: readonly SignatureVerdict[]) => void verdicts.push(...all);
  const read = fetchAgentCard(card as AgentCard, { ...more, signatures: { ...signatures, onVerdicts } });
  const outcome = await read.then(
    (value) => ({ card: value }),
    (error: unknown) => ({ error }),
  );
  return { ...outcome, verdicts };
}

/** The error of a card that cannot be verified. */
export const unverifiedError = (message: RegExp) =>
  expect.objectContaining({ name: 'AgentCardError', fault: 'unverified', message: expect.stringMatching(message) });
