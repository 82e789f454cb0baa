import { readdirSync, readFileSync } from 'node:fs';
import { extname, join, posix } from 'node:path';
import ts from 'typescript';

/** One parsed source file. Its path is relative to the root of the tree. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly ast: ts.SourceFile;
}

/** The place of a broken rule, and the problem. */
export interface Violation {
  readonly file: string;
  readonly line: number;
  readonly problem: string;
}

/** A folder of TypeScript files, read from the disk or given as a list of paths and texts. */
export class SourceTree {
  readonly files: readonly SourceFile[];
  readonly #byPath: ReadonlyMap<string, SourceFile>;

  private constructor(texts: Iterable<readonly [path: string, text: string]>) {
    this.files = Array.from(texts, ([path, text]) => ({ path, text, ast: parseSource(path, text) }));
    this.#byPath = new Map(this.files.map((file) => [file.path, file]));
  }

  static of(texts: Readonly<Record<string, string>>): SourceTree {
    return new SourceTree(Object.entries(texts));
  }

  static read(root: string): SourceTree {
    const paths = readdirSync(root, { recursive: true, encoding: 'utf8' })
      .map((path) => path.replaceAll('\\', '/'))
      .filter((path) => /\.tsx?$/.test(path) && !/(^|\/)(node_modules|dist)\//.test(path));
    return new SourceTree(paths.sort().map((path) => [path, readFileSync(join(root, path), 'utf8')]));
  }

  /** Shipped files: neither tests nor generated code. */
  get shipped(): readonly SourceFile[] {
    return this.files.filter(({ path }) => !isTest(path) && !path.endsWith('.generated.ts'));
  }

  /** The target of a relative import, if it is in the tree. */
  resolve(from: string, specifier: string): SourceFile | undefined {
    const path = posix.join(posix.dirname(from), specifier);
    return this.#byPath.get(path.replace(/\.js$/, '.ts')) ?? this.#byPath.get(path.replace(/\.js$/, '.tsx'));
  }

  file(path: string): SourceFile | undefined {
    return this.#byPath.get(path);
  }
}

const PARSED = new Map<string, ts.SourceFile>();

/** The syntax tree of a source file. Rules that read the files by other paths share it. */
export function parseSource(path: string, text: string): ts.SourceFile {
  const key = `${extname(path)} ${text}`;
  const known = PARSED.get(key);
  if (known !== undefined) return known;
  const ast = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true);
  PARSED.set(key, ast);
  return ast;
}

/** True if a file holds tests. */
export function isTest(path: string): boolean {
  return path.endsWith('.test.ts');
}

/** The line of a node, from 1. */
export function lineOf(file: SourceFile, node: ts.Node): number {
  return file.ast.getLineAndCharacterOfPosition(node.getStart(file.ast)).line + 1;
}

const NODES = new WeakMap<ts.SourceFile, readonly ts.Node[]>();

/** Every node of a file, parents before children. Several rules read the same file. */
export function nodesOf({ ast }: SourceFile): readonly ts.Node[] {
  const known = NODES.get(ast);
  if (known !== undefined) return known;
  const nodes: ts.Node[] = [];
  const visit = (node: ts.Node): void => {
    nodes.push(node);
    ts.forEachChild(node, visit);
  };
  visit(ast);
  NODES.set(ast, nodes);
  return nodes;
}
