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
])('an agent that calls a file %j gets %j', (name, safe) => {
  expect(safeName(name)).toBe(safe);
});
