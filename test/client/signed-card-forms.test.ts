import { describe, expect, it } from 'vitest';
import { connect, fetchAgentCard } from '../../packages/parley/src/exports/client.js';
import { signer, textOf } from './card-signer.js';
import { result, StubAgent } from './stub-agent.js';

/** A card as JSON, of any form. */
type Document = Readonly<Record<string, unknown>>;

const URL_OF = 'https://a.example/rpc';
const entry = (more: object = {}) => ({ url: URL_OF, protocolBinding: 'JSONRPC', protocolVersion: '1.0', ...more });
const card = (more: object = {}): Document => ({ name: 'A', supportedInterfaces: [entry()], ...more });

describe('a signature', () => {
  it('covers what was received: a tolerant reader adds nothing to it', async () => {
    const { jwk, sign } = await signer('k');
    const signatures = { keys: [jwk] };
    const plain = { ...card({ description: '', version: '1', capabilities: {}, defaultInputModes: [] }) };
    const whole = { ...plain, defaultOutputModes: [], skills: [] };
    const signed = { ...whole, signatures: [await sign(textOf(whole))] };
    expect((await fetchAgentCard(signed as never, { signatures })).name).toBe('A');
    // Names that the tolerant reader knows and no signature covers.
    const evil = 'https://evil.example';
    for (const more of [
      { url: evil, preferredTransport: 'JSONRPC' },
      { supportedInterfaces: [{ ...entry(), transport: 'GRPC', type: 'GRPC' }] },
    ]) {
      const found = await fetchAgentCard({ ...signed, ...more } as never, { signatures });
      expect(found.supportedInterfaces).toEqual([entry()]);
    }
    for (const more of [
      { supportedInterfaces: [{ url: evil, transport: 'JSONRPC' }, entry()] },
      { supportedInterfaces: [null, entry()] },
      { supportedInterfaces: [entry({ protocolBinding: 'jsonrpc' })] },
      { supportedInterfaces: null, supported_interfaces: [entry({ url: evil })] },
      { supportedInterfaces: null, url: evil },
    ])
      await expect(fetchAgentCard({ ...signed, ...more } as never, { signatures })).rejects.toMatchObject({
        fault: 'unverified',
      });
  });

  it('is verified over a card in another spelling', async () => {
    const { jwk, sign } = await signer('k');
    const spelled = {
      ...card({ description: '', version: '1', capabilities: {}, defaultInputModes: [], defaultOutputModes: [] }),
      supportedInterfaces: [entry({ protocolBinding: 'json-rpc' })],
      skills: [],
    };
    const signed = { ...spelled, signatures: [await sign(textOf(spelled))] };
    const found = await fetchAgentCard(signed as never, { signatures: { keys: [jwk] } });
    expect(found.supportedInterfaces).toEqual([entry()]);
  });
});

describe('an extended card', () => {
  it('is read in the same tolerant way', async () => {
    await using stub = await StubAgent.start((_, { url }) =>
      result({ name: 'More', supported_interfaces: [null, entry({ url, protocolBinding: 'jsonrpc' })], skills: null }),
    );
    const client = await connect(stub.card({ capabilities: { extendedAgentCard: true } }));
    expect(await client.getExtendedAgentCard()).toMatchObject({
      name: 'More',
      supportedInterfaces: [entry({ url: stub.url })],
      skills: [],
    });
  });

  it('that is none is an answer that the protocol does not allow', async () => {
    await using stub = await StubAgent.start(() => result({ error: 'none' }));
    const client = await connect(stub.card({ capabilities: { extendedAgentCard: true } }));
    await expect(client.getExtendedAgentCard()).rejects.toMatchObject({ code: 'INVALID_AGENT_RESPONSE' });
    expect(client.card.name).toBe('Stub');
  });
});
