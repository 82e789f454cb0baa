import { describe, expect, it } from 'vitest';
import { isLocalHost, publicHosts } from './public-hosts.js';

describe('public hosts', () => {
  const isPublic = publicHosts(['agents.example.com', 'Other.Example:8443', '[2001:db8::1]']);

  it.each([
    ['agents.example.com', true],
    ['AGENTS.example.com:8080', true],
    ['other.example:8443', true],
    ['other.example', false],
    ['other.example:80', false],
    ['[2001:db8::1]:80', true],
    ['[2001:db8::2]', false],
    ['evil.example', false],
    ['agents.example.com.evil.example', false],
    ['', false],
  ])('%s: %s', (host, expected) => {
    expect(isPublic(host)).toBe(expected);
  });

  it.each(['https://example.com', 'example.com/', '*.example.com', '', 'a b', '[::1'])('%j is refused', (entry) => {
    expect(() => publicHosts(['a.example', entry])).toThrow(`"${entry}"`);
  });
});

describe('hosts of this machine', () => {
  it.each([
    ['localhost', true],
    ['LOCALHOST:8080', true],
    ['agents.localhost:3000', true],
    ['127.0.0.1', true],
    ['127.8.8.8:80', true],
    ['[::1]', true],
    ['[::1]:8080', true],
    ['[::ffff:127.0.0.1]:1', true],
    ['localhost.evil.example', false],
    ['127.0.0.1.evil.example', false],
    ['evil.example:8080', false],
    ['192.168.0.1', false],
    ['[::1', false],
    ['', false],
  ])('%s: %s', (host, expected) => {
    expect(isLocalHost(host)).toBe(expected);
  });
});
