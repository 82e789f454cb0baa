import { expect, it } from 'vitest';
import { safeName } from './saved-files.js';

it.each([
  ['report.pdf', 'report.pdf'],
  ['../../etc/passwd', 'passwd'],
  ['C:\\Windows\\x.exe', 'x.exe'],
  ['.bashrc', '_bashrc'],
  ['..', '_'],
  ['', 'file'],
  ['/', 'file'],
  ['a\u0000b\nc', 'a_b_c'],
  ['a:b?.txt', 'a_b_.txt'],
  ['invoice\u202efdp.exe', 'invoice_fdp.exe'],
  ['a\u2066b\u2069c\u200ed\u061ce', 'a_b_c_d_e'],
  ['a\u2028b\u0085c', 'a_b_c'],
])('an agent that calls a file %j gets %j', (name, safe) => {
  expect(safeName(name)).toBe(safe);
});
