import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, it } from 'vitest';

const SOURCES = fileURLToPath(new URL('../../packages/parley/src', import.meta.url));
const ENGINE = join(SOURCES, 'store/engine');

/** A method of a storage, and the parameter by which it would have to choose what to do. */
interface Choice {
  readonly method: string;
  readonly parameter: string;
}

/** The methods of interfaces in these files whose parameters are one of several words, or have such a member. */
function choicesIn(files: readonly string[]): { readonly methods: number; readonly choices: readonly Choice[] } {
  const { options } = ts.parseJsonConfigFileContent(
    { compilerOptions: { target: 'esnext', module: 'nodenext', strict: true, skipLibCheck: true, types: [] } },
    ts.sys,
    SOURCES,
  );
  const program = ts.createProgram([...files], options);
  const checker = program.getTypeChecker();
  const choices: Choice[] = [];
  let methods = 0;
  const isChoice = (type: ts.Type): boolean =>
    type.isUnion() && type.types.filter((one) => one.isStringLiteral()).length > 1;
  /** Values of the protocol have words of their own, which a storage keeps as they are. */
  const isProtocol = (type: ts.Type): boolean =>
    (type.aliasSymbol ?? type.symbol)?.declarations?.some((one) =>
      one.getSourceFile().fileName.includes('/src/model/'),
    ) === true;
  const visit = (node: ts.Node, owner: string): void => {
    if (ts.isInterfaceDeclaration(node)) return ts.forEachChild(node, (child) => visit(child, node.name.text));
    if (ts.isMethodSignature(node)) {
      methods += 1;
      for (const parameter of node.parameters) {
        const type = checker.getTypeAtLocation(parameter);
        // A query of a list says which rows it shows, and in which order.
        if (isProtocol(type) || node.name.getText() === 'page') continue;
        const members =
          type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Union) ? checker.getPropertiesOfType(type) : [];
        const wrong = members.filter((member) => {
          const memberType = checker.getTypeOfSymbolAtLocation(member, parameter);
          return !isProtocol(memberType) && isChoice(memberType);
        });
        const method = `${owner}.${node.name.getText()}`;
        if (isChoice(type)) choices.push({ method, parameter: parameter.name.getText() });
        for (const member of wrong) choices.push({ method, parameter: `${parameter.name.getText()}.${member.name}` });
      }
    }
    ts.forEachChild(node, (child) => visit(child, owner));
  };
  for (const file of files) {
    const source = program.getSourceFile(file);
    if (source) visit(source, '');
  }
  return { methods, choices };
}

it('no method of the tables that a storage implements gets a word by which it has to choose', () => {
  const files = readdirSync(ENGINE).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
  const { methods, choices } = choicesIn(files.map((name) => join(ENGINE, name)));
  expect(methods).toBeGreaterThan(60);
  expect(choices).toEqual([]);
});

it('finds such a word as a parameter, as its member, and in a union of objects', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-ports-'));
  try {
    const file = join(folder, 'planted.ts');
    writeFileSync(
      file,
      `export interface Tables {
         release(turn: number, how: 'done' | 'again'): void;
         change(change: { readonly op: 'add' | 'drop'; readonly turn: number }): void;
         commit(change: { readonly kind: 'a' } | { readonly kind: 'b'; readonly turn: number }): void;
         drop(turns: number | 'all', text: string, isFirst: boolean): void;
       }`,
    );
    expect(choicesIn([file])).toEqual({
      methods: 4,
      choices: [
        { method: 'Tables.release', parameter: 'how' },
        { method: 'Tables.change', parameter: 'change.op' },
        { method: 'Tables.commit', parameter: 'change.kind' },
      ],
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
