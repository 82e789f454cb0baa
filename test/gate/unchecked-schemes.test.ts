import express from 'express';
import { ApiKeys } from 'parley-a2a/auth';
import { toExpress } from 'parley-a2a/express';
import { createA2AHost, createA2AServer } from 'parley-a2a/node';
import { createAgentHandler } from 'parley-a2a/server';
import { describe, expect, it } from 'vitest';
import { RecordingHandler } from '../../packages/parley/test/recording-handler.js';

const agent = (prompt: string) => prompt;
const securitySchemes = { apiKey: { apiKeySecurityScheme: { location: 'header' as const, name: 'X-API-Key' } } };
const securityRequirements = [{ schemes: { apiKey: {} } }];
const skills = [{ id: 's', name: 'S', description: 'S', securityRequirements }];
const authenticator = new ApiKeys([{ key: 'key-of-ada', subject: 'ada' }]);

const HOSTS: readonly [string, (options: object) => unknown][] = [
  ['a server', (options) => createA2AServer({ agent, ...options })],
  [
    'a server with a handler of the application',
    (options) => createA2AServer({ handler: new RecordingHandler(), ...options }),
  ],
  ['a host', (options) => createA2AHost({ agents: { '/a': { agent, ...options } } })],
  [
    'a host beside a protected agent',
    (options) => createA2AHost({ agents: { '/': { agent, authenticator }, '/a': { agent, ...options } } }),
  ],
  ['a handler', (options) => createAgentHandler({ agent, ...options })],
  ['a handler in Express', (options) => express().use(...toExpress(createAgentHandler({ agent, ...options })))],
];

describe.each(HOSTS)('%s whose card asks for credentials', (_, make) => {
  it.each([
    ['by schemes and requirements', { securitySchemes, securityRequirements }],
    ['by schemes alone', { securitySchemes }],
    ['by a skill', { securitySchemes, skills }],
  ])('%s needs an authenticator, because it would serve all callers', (__, options) => {
    const problem = /securitySchemes: the card asks for apiKey, and no authenticator checks it\. Set authenticator, or/;
    expect(() => make(options)).toThrow(problem);
  });

  it('may say that a gateway checks them', () => {
    expect(() => make({ securitySchemes, securityRequirements, gatewayAuthenticates: true })).not.toThrow();
  });

  it('may not say so beside an authenticator, and takes no other word for true', () => {
    expect(() => make({ authenticator, gatewayAuthenticates: true })).toThrow('gatewayAuthenticates: the agent has an');
    expect(() => make({ securitySchemes, gatewayAuthenticates: 'yes' })).toThrow('gatewayAuthenticates: must be true');
    expect(() => make({ securitySchemes, gatewayAuthenticate: true })).toThrow(
      '(did you mean "gatewayAuthenticates"?)',
    );
  });
});

it('an agent has the authenticator of its host', () => {
  const agents = { '/a': { agent, securitySchemes, securityRequirements } };
  expect(() => createA2AHost({ agents, authenticator })).not.toThrow();
});
