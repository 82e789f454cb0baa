import { expect, it } from 'vitest';
import { originOf } from './credential-guard.js';

it('an address without an origin is its own, so that trust in one is no trust in another', () => {
  expect(originOf('https://agent.example:8443/path')).toBe('https://agent.example:8443');
  expect(originOf('http://127.0.0.1:80/a')).toBe(originOf('http://localhost/b'));
  for (const address of ['agent.example:50051', 'localhost:50051', 'in-process:/echo', 'agent.example'])
    expect(originOf(address)).toBe(address);
  expect(originOf('agent.example:50051')).not.toBe(originOf('attacker.example:50051'));
});
