import ts from 'typescript';
import type { SourceFile, Violation } from './source-tree.js';

/** Files whose exports a script reads all together, to generate types of them. */
const READ_AS_A_WHOLE = /^packages\/parley\/src\/model\//;

/** Returns exported names that no other file uses. */
export function namesOfOneFile(files: readonly SourceFile[], others: readonly string[] = []): Violation[] {
  const users = new Map<string, number>();
  for (const text of [...files.map((file) => file.text), ...others])
    for (const word of new Set(text.match(/[A-Za-z_$][\w$]*/g))) users.set(word, (users.get(word) ?? 0) + 1);
  return files
    .filter(({ path }) => !READ_AS_A_WHOLE.test(path) && !path.endsWith('.generated.ts'))
    .flatMap(({ path, ast }) =>
      exportedNames(ast)
        .filter(({ text }) => users.get(text) === 1)
        .map((name) => ({
          file: path,
          line: ast.getLineAndCharacterOfPosition(name.getStart()).line + 1,
          problem: `only this file has ${name.text}: do not export it`,
        })),
    );
}

function exportedNames(ast: ts.SourceFile): ts.Identifier[] {
  return ast.statements.flatMap((statement) => {
    const isExported = ts.canHaveModifiers(statement) && ts.getModifiers(statement)?.some(isExport);
    if (!isExported) return [];
    const declared = ts.isVariableStatement(statement)
      ? statement.declarationList.declarations.map(({ name }) => name)
      : [(statement as ts.DeclarationStatement).name];
    return declared.filter((name) => name !== undefined && ts.isIdentifier(name));
  });
}

function isExport({ kind }: ts.ModifierLike): boolean {
  return kind === ts.SyntaxKind.ExportKeyword;
}
