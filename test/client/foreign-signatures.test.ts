import { readdirSync, readFileSync } from 'node:fs';
import { generateAgentCardSignature, AgentCard as SdkCard } from '@a2a-js/sdk';
import { generateKeyPair } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { canonicalJson } from '../../packages/parley/src/model/canonical-json.js';
import { CARD, type Signer, signer, unverifiedError, verifyCard } from './card-signer.js';

let ours: Signer;
beforeAll(async () => {
  ours = await signer('ours');
});

describe('cards signed by others', () => {
  describe('the official JavaScript SDK', () => {
    /** Signed by the SDK, as the JSON of its server. */
    async function bySdk(card: SdkCard) {
      const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
      const sign = generateAgentCardSignature(privateKey, { alg: 'ES256', kid: 'sdk', typ: 'JOSE' });
      const { signatures } = await sign(card);
      return { keys: [{ kid: 'sdk', key: publicKey }], signatures };
    }
    const { securitySchemes: _, ...open } = { ...CARD, skills: [{ id: 's', name: 'S', description: '', tags: [] }] };

    it('signs what is verified here', async () => {
      const { keys, signatures } = await bySdk(SdkCard.fromJSON(open) as SdkCard);
      expect(await verifyCard({ ...open, signatures }, { keys })).toHaveProperty('card.name', CARD.name);
      const json = await bySdk(CARD as never);
      expect(await verifyCard({ ...CARD, signatures: json.signatures }, { keys: json.keys })).toHaveProperty(
        'card.name',
        CARD.name,
      );
    });

    it('leaves the schemes of its own form of a card unsigned: that card is refused', async () => {
      const { keys, signatures } = await bySdk(SdkCard.fromJSON(CARD) as SdkCard);
      expect(await verifyCard({ ...CARD, signatures }, { keys })).toHaveProperty(
        'error',
        unverifiedError(/not over this card/),
      );
    });
  });

  const folder = new URL('../vectors/signatures/', import.meta.url);
  it.each(readdirSync(folder))('recorded: %s', async (file) => {
    const { key, card } = JSON.parse(readFileSync(new URL(file, folder), 'utf8'));
    expect((await verifyCard(card, { keys: [key] })).verdicts).toEqual([{ kid: 'recorded', alg: 'ES256' }]);
    expect(await verifyCard({ ...card, name: `${card.name}!` }, { keys: [key] })).not.toHaveProperty('card');
  });

  it('the form of SDKs covers what is not empty', async () => {
    const text = canonicalJson({ name: 'N', version: '1', supportedInterfaces: CARD.supportedInterfaces });
    const card = { ...CARD, name: 'N', version: '1', signatures: [await ours.sign(text)] };
    const { provider: _, documentationUrl: __, ...rest } = card;
    const bare = { ...rest, capabilities: {}, securitySchemes: {}, securityRequirements: [], skills: [] };
    const empty = { ...bare, defaultInputModes: [], defaultOutputModes: [''] };
    expect(await verifyCard(empty, { keys: [ours.jwk] })).toHaveProperty('card');
    expect(await verifyCard({ ...empty, skills: CARD.skills }, { keys: [ours.jwk] })).toHaveProperty('error');
  });

  it('a card of 0.3 is verified as it was received', async () => {
    const old = {
      protocolVersion: '0.3.0',
      name: 'Old',
      description: '',
      url: 'https://old.example/rpc',
      preferredTransport: 'JSONRPC',
      version: '1',
      capabilities: { stateTransitionHistory: false },
      defaultInputModes: [],
      defaultOutputModes: [],
      skills: [],
    };
    for (const payload of [canonicalJson(old), canonicalJson({ ...old, anything: 'else' })]) {
      const card = { ...old, signatures: [await ours.sign(payload)] };
      const isOver = payload === canonicalJson(old);
      expect(await verifyCard(card, { keys: [ours.jwk] })).toHaveProperty(isOver ? 'card.name' : 'error');
    }
  });
});
