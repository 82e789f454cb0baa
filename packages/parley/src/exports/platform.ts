import { OptionsError } from '../errors/options-error.js';

/**
 * Refuses a host that lacks features that the library uses. Otherwise a later call would fail.
 * @throws OptionsError with the required version of Node.js.
 */
export function checkPlatform(subject: string): void {
  // The newest feature that the library uses.
  if (URL.parse !== undefined) return;
  const { process } = globalThis as { readonly process?: { readonly versions?: { readonly node?: string } } };
  const version = process?.versions?.node;
  const found = version === undefined ? 'This host is too old' : `This is Node.js ${version}`;
  throw new OptionsError(subject, [`needs Node.js 22.19 or newer, or a browser from 2024 on. ${found}`]);
}
