import { describe, expect, it } from 'vitest';
import { activeExtensions, parseExtensions, requireExtensions } from './extensions.js';
import { OPERATIONS, type OperationName } from './operations.js';

describe('a list of extensions', () => {
  it.each([
    [undefined, []],
    ['', []],
    [' , ,', []],
    ['urn:a', ['urn:a']],
    [' urn:a ,urn:b,urn:a', ['urn:a', 'urn:b']],
  ])('%s is read as %j (Spec §3.2.6)', (list, uris) => {
    expect(parseExtensions(list)).toEqual(uris);
  });
});

describe('the extensions of a call', () => {
  const offered = [{ uri: 'urn:a' }, { uri: 'urn:b', required: true }, {}];

  it('are those asked for that are offered, exactly (Spec §4.6.3)', () => {
    expect(activeExtensions(['urn:x', 'urn:b', 'urn:A'], offered)).toEqual(['urn:b']);
    expect(activeExtensions(['urn:a'], [])).toEqual([]);
  });

  it.each(Object.keys(OPERATIONS) as OperationName[])('must name what is required: %s (Spec §3.3.4)', (operation) => {
    const call = () => requireExtensions(operation, ['urn:a'], offered);
    if (operation === 'getExtendedAgentCard') expect(call).not.toThrow();
    else expect(call).toThrow(expect.objectContaining({ code: 'EXTENSION_SUPPORT_REQUIRED' }));
    expect(() => requireExtensions(operation, ['urn:b'], offered)).not.toThrow();
  });
});
