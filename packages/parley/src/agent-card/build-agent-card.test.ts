import { expect, it } from 'vitest';
import { isAgentCard } from '../model/validation.js';
import { buildAgentCard } from './build-agent-card.js';
import { IDEMPOTENT_SEND_EXTENSION, STREAM_RESUME_EXTENSION } from './offered-extensions.js';

const nothing = {
  streaming: false,
  pushNotifications: false,
  extendedAgentCard: false,
  streamResume: false,
  idempotentSend: false,
};
const interfaces = [{ url: 'http://x/', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }];

it('a card of no options has the defaults, and writes out what it does not offer', () => {
  const card = buildAgentCard({ options: {}, served: nothing, interfaces });
  expect(card).toEqual({
    name: 'A2A Agent',
    description: 'A2A Protocol Agent',
    supportedInterfaces: interfaces,
    version: '1.0.0',
    capabilities: { streaming: false, pushNotifications: false, extensions: [], extendedAgentCard: false },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
  });
});

it('a card of all options is a valid one', () => {
  const card = buildAgentCard({
    options: {
      name: 'Weather',
      description: 'Tells the weather',
      version: '2.1.0',
      provider: { organization: 'Example', url: 'https://example.com' },
      documentationUrl: 'https://example.com/docs',
      iconUrl: 'https://example.com/icon.png',
      skills: [{ id: 'forecast', name: 'Forecast', description: 'Looks ahead' }],
      defaultInputModes: ['text/plain', 'application/json'],
      defaultOutputModes: ['text/plain'],
      extensions: [{ uri: 'https://example.com/ext/v1', required: true }],
      securitySchemes: { key: { apiKeySecurityScheme: { location: 'header', name: 'x-key' } } },
    },
    served: {
      streaming: true,
      pushNotifications: true,
      extendedAgentCard: true,
      streamResume: true,
      idempotentSend: true,
      securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
    },
    interfaces,
  });
  expect(isAgentCard(card)).toBe(true);
  expect(card.skills).toEqual([{ id: 'forecast', name: 'Forecast', description: 'Looks ahead', tags: [] }]);
  expect(card.capabilities.extensions?.map(({ uri, required }) => [uri, required])).toEqual([
    [STREAM_RESUME_EXTENSION, false],
    [IDEMPOTENT_SEND_EXTENSION, false],
    ['https://example.com/ext/v1', true],
  ]);
  expect(Object.keys(card.securitySchemes ?? {})).toEqual(['key']);
});
