import { expect, it } from 'vitest';
import { grpcAddress, hostAndPort } from './grpc-address.js';

it.each([
  ['agent.example:50051', 'agent.example:50051', undefined],
  ['AGENT.example.:50051', 'agent.example:50051', undefined],
  ['agent.example', 'agent.example:443', undefined],
  ['dns:agent.example:50051', 'agent.example:50051', undefined],
  ['dns:///agent.example:50051', 'agent.example:50051', undefined],
  ['http://localhost:50051', 'localhost:50051', false],
  ['http://agent.example/', 'agent.example:80', false],
  ['https://agent.example', 'agent.example:443', true],
  ['HTTPS://agent.example:8443', 'agent.example:8443', true],
  ['[::1]:50051', '[::1]:50051', undefined],
  ['[2001:DB8::1]', '[2001:db8::1]:443', undefined],
  ['https://[2001:db8:0::1]:8443', '[2001:db8::1]:8443', true],
  // Spellings of an address are one address, so that a check of it holds.
  ['0x7f.1:22', '127.0.0.1:22', undefined],
  ['2130706433:22', '127.0.0.1:22', undefined],
  ['[::ffff:7f00:1]:22', '[::ffff:7f00:1]:22', undefined],
])('%s leads to %s', (text, place, isSecure) => {
  const address = grpcAddress(text);
  expect([address && hostAndPort(address), address?.isSecure]).toEqual([place, isSecure]);
});

it.each([
  '',
  ':50051',
  'agent.example:99999',
  'agent.example:0',
  'agent.example:http',
  'unix:/run/docker.sock',
  'unix:///run/docker.sock',
  'dns://192.0.2.1/agent.example:443',
  'dns://192.0.2.1/agent.example',
  'xds:///agent',
  'ipv4:127.0.0.1:22',
  'ws://agent.example',
  'http://agent.example/path',
  'https://user@agent.example',
  'trusted.example@other.example:443',
  'agent.example:443#x',
  'agent.example:443?x=y',
  'agent.example\\.other.example:443',
  '127.0.0.1:22,agent.example:443',
  '%6cocalhost:443',
  '::1:50051',
  '[::1%25eth0]:443',
  '[agent.example]:443',
  'agent example:443',
])('%j is no address of gRPC', (text) => {
  expect(grpcAddress(text)).toBeUndefined();
});
