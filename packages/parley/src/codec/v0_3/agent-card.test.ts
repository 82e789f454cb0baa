import { describe, expect, it } from 'vitest';
import type { AgentCard, AgentInterface } from '../../model/agent-card.js';
import { FILES_EXTENSION } from '../../operations/files-extension.js';
import { writeAgentCard } from './agent-card.js';

const RPC: AgentInterface = { url: 'http://a/rpc', protocolBinding: 'JSONRPC', protocolVersion: '0.3' };
const CAPNWEB: AgentInterface = { url: 'ws://a/capnweb', protocolBinding: 'CAPNWEB', protocolVersion: '0.3' };

const cardWith = (...supportedInterfaces: readonly AgentInterface[]): AgentCard => ({
  name: 'Agent',
  description: 'An agent',
  version: '1.0.0',
  supportedInterfaces,
  capabilities: { streaming: true, pushNotifications: false, extensions: [], extendedAgentCard: false },
  securitySchemes: {
    key: { apiKeySecurityScheme: { location: 'header', name: 'x-key', description: 'A key' } },
    token: { httpAuthSecurityScheme: { scheme: 'Bearer' } },
    password: { httpAuthSecurityScheme: { scheme: 'basic' } },
    login: { openIdConnectSecurityScheme: { openIdConnectUrl: 'https://a/openid' } },
    certificate: { mtlsSecurityScheme: {} },
  },
  defaultInputModes: [],
  defaultOutputModes: [],
  skills: [],
});
const writeCard = (card: AgentCard) => JSON.parse(JSON.stringify(writeAgentCard('0.3.0', card)));

describe("a card of 0.3 with an interface of Cap'n Web", () => {
  it('names it as the preferred transport if there is no other', () => {
    expect(writeCard(cardWith(CAPNWEB))).toMatchObject({ url: CAPNWEB.url, preferredTransport: 'CAPNWEB' });
  });

  it('lists it as an additional interface beside others', () => {
    const { url, preferredTransport, additionalInterfaces } = writeCard(cardWith(RPC, CAPNWEB));
    expect({ url, preferredTransport }).toEqual({ url: RPC.url, preferredTransport: 'JSONRPC' });
    expect(additionalInterfaces).toContainEqual({ url: CAPNWEB.url, transport: 'CAPNWEB' });
  });

  it('has the capabilities and the types of authentication of that interface, and no other card has them', () => {
    const { capabilities, authentication } = writeCard(cardWith(RPC, CAPNWEB));
    expect(capabilities).toMatchObject({ bidirectional: true, taskManagement: true, fileTransfer: true });
    expect(authentication).toEqual([
      { type: 'apikey', description: 'A key', parameters: { scheme: 'key' } },
      { type: 'bearer', parameters: { scheme: 'token' } },
      { type: 'custom', parameters: { scheme: 'password' } },
      { type: 'oauth2', parameters: { scheme: 'login' } },
      { type: 'mtls', parameters: { scheme: 'certificate' } },
    ]);
    const plain = writeCard(cardWith(RPC));
    expect(plain).not.toHaveProperty('authentication');
    expect(plain.capabilities).not.toHaveProperty('bidirectional');
    expect(plain.capabilities).not.toHaveProperty('fileTransfer');
  });
});

it('a card of 0.3 tells that the agent takes files', () => {
  const card = cardWith(RPC);
  const capabilities = { ...card.capabilities, extensions: [{ uri: FILES_EXTENSION }] };
  expect(writeCard({ ...card, capabilities }).capabilities).toMatchObject({ fileTransfer: true });
});
