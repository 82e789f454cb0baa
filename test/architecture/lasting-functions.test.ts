import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { lineOf, nodesOf, SourceTree } from './source-tree.js';

/** The rooms that run with each call. */
const OF_CALLS = /^(?:app|bindings|server|adapters|agent-calls)\//;

/**
 * Functions that are assigned to a property at once: `call.end = () => …`. V8 takes such a function for a lasting one,
 * and puts it into its old space. There it keeps all that it refers to, such as the request of a call, until the next
 * full garbage collection. A constant that is then assigned has no such effect.
 */
function lastingFunctions(tree: SourceTree): string[] {
  return tree.shipped.flatMap((file) =>
    nodesOf(file).flatMap((node) => {
      const isAssignment = ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.EqualsToken;
      if (!isAssignment || !ts.isPropertyAccessExpression(node.left)) return [];
      if (!ts.isArrowFunction(node.right) && !ts.isFunctionExpression(node.right)) return [];
      return [`${file.path}:${lineOf(file, node)} ${node.left.getText(file.ast)}`];
    }),
  );
}

describe('a function of a call', () => {
  it('is a constant before it becomes a property', { timeout: 120_000 }, () => {
    const library = SourceTree.read(fileURLToPath(new URL('../../packages/parley/src', import.meta.url)));
    expect(lastingFunctions(library).filter((found) => OF_CALLS.test(found))).toEqual([]);
  });

  it.each(['call.end = () => {};', 'this.#end = function () {};', 'if (x) call.end = async (y) => y;'])(
    'is noticed in %s',
    (text) => {
      expect(lastingFunctions(SourceTree.of({ 'a.ts': text }))).toHaveLength(1);
    },
  );

  it('may be a constant or a class field', () => {
    const text = 'const end = () => {}; call.end = end; class C { readonly #end = () => {}; }';
    expect(lastingFunctions(SourceTree.of({ 'a.ts': text }))).toEqual([]);
  });
});
