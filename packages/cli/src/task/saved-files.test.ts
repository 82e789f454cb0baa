import { basename } from 'node:path';
import { expect, it } from 'vitest';
import { SavedFiles, safeName } from './saved-files.js';

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
  ['NUL', '_NUL'],
  ['com1.tar.gz', '_com1.tar.gz'],
  ['Con .txt', '_Con .txt'],
  ['console.txt', 'console.txt'],
  ['report. .', 'report'],
])('a file with the name %j is saved as %j', (name, safe) => {
  expect(safeName(name)).toBe(safe);
});

it('file names that differ only in case or Unicode form get separate paths, because some disks treat them as equal', () => {
  const saved = new SavedFiles('out', true);
  const places = ['a.txt', 'A.txt', 'a.TXT', 'caf\u00e9', 'cafe\u0301'].map((filename) =>
    saved.place({ text: '', filename }, { artifactId: 'one' }),
  );
  expect(places.map((path) => basename(path))).toEqual(['a.txt', 'A-2.txt', 'a-3.TXT', 'caf\u00e9', 'cafe\u0301-2']);
});
