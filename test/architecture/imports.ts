import ts from 'typescript';
import { lineOf, nodesOf, type SourceFile } from './source-tree.js';

/** One import or re-export of a file. */
export interface Import {
  readonly specifier: string;
  /** True if nothing is left of the import at run time. */
  readonly typeOnly: boolean;
  readonly line: number;
}

/** Everything a file imports: declarations, re-exports, dynamic imports and import types. */
export function importsOf(file: SourceFile): Import[] {
  const found: Import[] = [];
  for (const node of nodesOf(file)) {
    const literal = specifierOf(node);
    if (literal === undefined) continue;
    found.push({ specifier: literal.text, typeOnly: isTypeOnly(node), line: lineOf(file, node) });
  }
  return found;
}

/** The literal with the imported module, if the node is an import. */
export function specifierOf(node: ts.Node): ts.StringLiteral | undefined {
  const literal = specifierNodeOf(node);
  return literal !== undefined && ts.isStringLiteral(literal) ? literal : undefined;
}

function specifierNodeOf(node: ts.Node): ts.Node | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.moduleSpecifier;
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) return node.arguments[0];
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) return node.argument.literal;
  return undefined;
}

function isTypeOnly(node: ts.Node): boolean {
  if (ts.isImportDeclaration(node)) return node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword;
  if (ts.isExportDeclaration(node)) return node.isTypeOnly;
  return ts.isImportTypeNode(node);
}
