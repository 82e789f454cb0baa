import { globSync, readFileSync } from 'node:fs';
import ts from 'typescript';

const root = new URL('../../', import.meta.url).pathname;

/** A number that the code takes if an option is absent. */
export interface CodeDefault {
  /** The file, below `packages/`. */
  readonly file: string;
  readonly value: number;
}

/**
 * The numbers that the sources of all packages give to each name: `options.name ?? 5`, `{ name = 5 }`, and members of
 * tables (`name: 5`). Constants are followed.
 */
export function defaultsOfCode(): ReadonlyMap<string, readonly CodeDefault[]> {
  const paths = globSync('packages/*/src/**/*.ts', { cwd: root }).filter((path) => !path.endsWith('.test.ts'));
  const sources = paths.map((path) =>
    ts.createSourceFile(path, readFileSync(root + path, 'utf8'), ts.ScriptTarget.Latest, true),
  );
  const constants = new Constants(sources);
  const found = new Map<string, CodeDefault[]>();
  for (const source of sources) {
    const visit = (node: ts.Node): void => {
      const [name, initial] = nameAndInitial(node);
      const value = initial && constants.numberOf(initial);
      if (name !== undefined && value !== undefined) {
        const entry = { file: source.fileName.replace('packages/', ''), value };
        found.set(name, [...(found.get(name) ?? []), entry]);
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return found;
}

function nameAndInitial(node: ts.Node): readonly [name?: string, initial?: ts.Expression | undefined] {
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken) {
    const { left, right } = node;
    return [ts.isPropertyAccessExpression(left) ? left.name.text : left.getText(), right];
  }
  if (ts.isBindingElement(node)) return [(node.propertyName ?? node.name).getText(), node.initializer];
  if (ts.isPropertyAssignment(node) || ts.isParameter(node)) return [node.name.getText(), node.initializer];
  return [];
}

const OPERATIONS: Readonly<Partial<Record<ts.SyntaxKind, (a: number, b: number) => number>>> = {
  [ts.SyntaxKind.AsteriskToken]: (a, b) => a * b,
  [ts.SyntaxKind.AsteriskAsteriskToken]: (a, b) => a ** b,
  [ts.SyntaxKind.PlusToken]: (a, b) => a + b,
  [ts.SyntaxKind.SlashToken]: (a, b) => a / b,
};

/** The constants of modules. One of the same file goes before one of another. */
class Constants {
  readonly #initials = new Map<string, ts.Expression>();

  constructor(sources: readonly ts.SourceFile[]) {
    for (const { fileName, statements } of sources)
      for (const statement of statements) {
        if (!ts.isVariableStatement(statement)) continue;
        for (const { name, initializer } of statement.declarationList.declarations) {
          if (initializer === undefined) continue;
          this.#initials.set(name.getText(), initializer);
          this.#initials.set(`${fileName} ${name.getText()}`, initializer);
        }
      }
  }

  numberOf(expression: ts.Expression, steps = 8): number | undefined {
    if (ts.isNumericLiteral(expression)) return Number(expression.text);
    if (steps === 0) return undefined;
    if (ts.isParenthesizedExpression(expression)) return this.numberOf(expression.expression, steps - 1);
    if (ts.isIdentifier(expression)) {
      const own = `${expression.getSourceFile().fileName} ${expression.text}`;
      const initial = this.#initials.get(own) ?? this.#initials.get(expression.text);
      return initial && this.numberOf(initial, steps - 1);
    }
    if (!ts.isBinaryExpression(expression)) return undefined;
    const left = this.numberOf(expression.left, steps - 1);
    const right = this.numberOf(expression.right, steps - 1);
    if (left === undefined || right === undefined) return undefined;
    return OPERATIONS[expression.operatorToken.kind]?.(left, right);
  }
}
