import { expect, it } from 'vitest';
import { cardProblems } from './card-problems.js';

const CARD = {
  name: 'Agent',
  description: '',
  supportedInterfaces: [{ url: 'https://a.example', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  version: '1',
  capabilities: { streaming: true, extensions: [{ uri: 'urn:x', params: { any: [1] } }] },
  securitySchemes: {
    key: { apiKeySecurityScheme: { location: 'header', name: 'x-key' } },
    oauth: { oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl: 'https://i.example', scopes: {} } } } },
  },
  securityRequirements: [{ schemes: { key: { list: [] } } }],
  defaultInputModes: ['text/plain'],
  defaultOutputModes: [],
  skills: [{ id: 'x', name: 'x', description: '', tags: [] }],
};

it('a card of 1.0 has no problems', () => {
  expect(cardProblems(CARD)).toEqual({ wrong: [], unknown: [] });
});

it.each<readonly [string, object, string]>([
  ['a missing member', { name: undefined }, 'name is required'],
  ['null for a required member', { version: null }, 'version is required'],
  ['an empty name', { name: '' }, 'name is empty'],
  ['a number for a text', { version: 1 }, 'version is not a text'],
  ['a text for a list', { skills: 'no' }, 'skills is not a list'],
  ['numbers in a list of texts', { defaultInputModes: [1] }, 'defaultInputModes[0] is not a text'],
  ['a text for a flag', { capabilities: { streaming: 'yes' } }, 'capabilities.streaming is not true or false'],
  ['a nested member', { supportedInterfaces: [{}] }, 'supportedInterfaces[0].url is required'],
  [
    'two kinds of a scheme',
    { securitySchemes: { x: { mtlsSecurityScheme: {}, httpAuthSecurityScheme: { scheme: 'x' } } } },
    'securitySchemes.x needs exactly one of apiKeySecurityScheme',
  ],
])('finds %s', (_, change, problem) => {
  expect(cardProblems({ ...CARD, ...change }).wrong[0]).toContain(problem);
});

it('null stands for an absent optional member, and unknown members are told apart', () => {
  expect(cardProblems({ ...CARD, iconUrl: null, more: 1 })).toEqual({ wrong: [], unknown: ['more'] });
});

it.each([undefined, null, 'card', [], 1])('a document that is no object is no card: %j', (document) => {
  expect(cardProblems(document).wrong).toEqual(['the document is not an object']);
});

const OLD = {
  name: 'Agent',
  description: '',
  url: 'https://a.example',
  version: '1',
  protocolVersion: '0.3.0',
  capabilities: {},
  defaultInputModes: [],
  defaultOutputModes: [],
  skills: [],
};

it.each(['0.3.0', '0.2.5', undefined])('a card in the form of 0.3 that says %j has no problems', (protocolVersion) => {
  expect(cardProblems({ ...OLD, protocolVersion }).wrong).toEqual([]);
});

it.each(['1.0', '1', 'v1.0', '1.1', '2.0', 1])('a card that says %j needs supportedInterfaces', (protocolVersion) => {
  expect(cardProblems({ ...OLD, protocolVersion }).wrong).toEqual(['supportedInterfaces is required']);
  expect(cardProblems({ ...OLD, protocolVersion, supportedInterfaces: null }).wrong).toEqual([
    'supportedInterfaces is required',
  ]);
  expect(cardProblems({ ...OLD, protocolVersion, supportedInterfaces: [] }).wrong).toEqual([
    'supportedInterfaces is empty',
  ]);
});

it('a card of 1.0 needs an interface', () => {
  expect(cardProblems({ ...CARD, supportedInterfaces: [] }).wrong).toEqual(['supportedInterfaces is empty']);
  expect(cardProblems({ ...CARD, supportedInterfaces: undefined }).wrong).toEqual(['supportedInterfaces is required']);
});
