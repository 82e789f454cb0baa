import ts from 'typescript';
import { isTest, lineOf, nodesOf, type SourceFile, type SourceTree, type Violation } from './source-tree.js';
import { codeOf } from './words.js';

const KEBAB = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const VERSION_FOLDER = /^v\d+(?:_\d+)+$/;
const VAGUE = /(?:^|-)(?:utils?|helpers?|common|misc|managers?|services?)$/;

/** Names of files and folders that are vague or not in kebab-case. */
export function nameViolations(tree: SourceTree, { entryPoints = [] as readonly string[] } = {}): Violation[] {
  return tree.files.flatMap(({ path }) => {
    const segments = path.replace(/(?:\.test|\.generated|\.d|\.config)?\.tsx?$/, '').split('/');
    const name = segments.at(-1) ?? '';
    const problems = [
      ...segments
        .filter((segment) => !KEBAB.test(segment) && !VERSION_FOLDER.test(segment))
        .map((s) => `${s} is not in kebab-case`),
      ...segments.filter((segment) => VAGUE.test(segment)).map((s) => `the name ${s} tells nothing`),
      ...(name === 'types' ? ['a lone types file scatters concepts'] : []),
      ...(name === 'index' && !entryPoints.includes(path) ? ['a room has no index'] : []),
    ];
    return problems.map((problem) => ({ file: path, line: 1, problem }));
  });
}

/** Files of 500 lines or more. They usually hold two concepts. */
export function lengthViolations(tree: SourceTree, limit = 500): Violation[] {
  return tree.files
    .filter(({ path, text }) => !path.endsWith('.generated.ts') && text.split('\n').length > limit)
    .map(({ path }) => ({ file: path, line: limit, problem: `the file has ${limit} lines or more` }));
}

/**
 * Violations of strict syntax: `any`, `!`, `enum`, default exports, suppressed errors, and notes about work left to do.
 */
export function syntaxViolations(tree: SourceTree): Violation[] {
  return tree.files
    .filter(({ path }) => !path.endsWith('.generated.ts'))
    .flatMap((file) => [
      ...nodesOf(file).flatMap((node) => {
        const problem = syntaxProblem(node);
        return problem === undefined ? [] : [{ file: file.path, line: lineOf(file, node), problem }];
      }),
      ...commentViolations(file),
    ]);
}

function syntaxProblem(node: ts.Node): string | undefined {
  if (node.kind === ts.SyntaxKind.AnyKeyword) return 'any';
  if (ts.isNonNullExpression(node)) return 'a non-null assertion';
  if (ts.isEnumDeclaration(node)) return 'an enum';
  if (ts.isExportAssignment(node)) return 'a default export';
  if (isShortWait(node)) return 'a wait of one second: a busy machine needs more';
  const isDefault =
    ts.canHaveModifiers(node) && ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.DefaultKeyword);
  return isDefault === true ? 'a default export' : undefined;
}

function isShortWait(node: ts.Node): boolean {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return false;
  const { name } = node.expression;
  return /^wait(?:For|Until)$/.test(name.text) && node.expression.getText() === `vi.${name.text}` && !node.arguments[1];
}

// Joined from pieces, or this file would violate its own rule.
const LEFT_TO_DO = new RegExp(`\\b(?:${['TO', 'DO'].join('')}|${['FIX', 'ME'].join('')})\\b`);
const SUPPRESSED = /@ts-(?:ignore|nocheck|expect-error)/;

function commentViolations(file: SourceFile): Violation[] {
  // It takes long, and few files need it.
  const code = SUPPRESSED.test(file.text) ? codeOf(file).split('\n') : [];
  return file.text.split('\n').flatMap((line, index) => {
    const problems = [
      ...(LEFT_TO_DO.test(line) ? ['something left to do'] : []),
      ...(SUPPRESSED.test(line) && !SUPPRESSED.test(code[index] ?? '') && !isTest(file.path)
        ? ['a suppressed type error']
        : []),
    ];
    return problems.map((problem) => ({ file: file.path, line: index + 1, problem }));
  });
}

/**
 * Exports without a doc comment. Consecutive one-line statements share the comment of the first. The schema of a type
 * (`TaskSchema`) shares the comment of the type.
 */
export function undocumentedExports(tree: SourceTree): Violation[] {
  return tree.shipped.flatMap((file) => {
    const bare: Violation[] = [];
    const named = new Set<string>();
    let documented = false;
    let end = -1;
    for (const statement of file.ast.statements) {
      const follows = end >= 0 && !/\n\s*\n/.test(file.text.slice(end, statement.getStart(file.ast)));
      documented = hasDoc(statement) || (documented && follows);
      end = statement.end;
      const name = exportedName(statement);
      if (!isExported(statement)) continue;
      if (documented) named.add(name);
      else bare.push({ file: file.path, line: lineOf(file, statement), problem: `${name} has no doc comment` });
    }
    return bare.filter(({ problem }) => !named.has(problem.replace(/Schema has no doc comment$/, '')));
  });
}

function isExported(node: ts.Statement): boolean {
  return (
    ts.canHaveModifiers(node) &&
    (ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false)
  );
}

function hasDoc(node: ts.Statement): boolean {
  return ts.getJSDocCommentsAndTags(node).some(ts.isJSDoc);
}

function exportedName(node: ts.Statement): string {
  if (ts.isVariableStatement(node))
    return node.declarationList.declarations.map(({ name }) => name.getText()).join(', ');
  return 'name' in node && node.name !== undefined ? (node.name as ts.Node).getText() : 'an export';
}

const WEAKENED = new Set(['skip', 'only', 'todo', 'fails']);

/** Tests that are skipped, focused, or replace modules. */
export function testViolations(tree: SourceTree): Violation[] {
  return tree.files.flatMap((file) =>
    isTest(file.path)
      ? nodesOf(file).flatMap((node) => {
          const call = weakCall(node);
          return call === undefined
            ? []
            : [{ file: file.path, line: lineOf(file, node), problem: `${call} in a test` }];
        })
      : [],
  );
}

function weakCall(node: ts.Node): string | undefined {
  if (!ts.isPropertyAccessExpression(node)) return undefined;
  const [owner, member] = [node.expression.getText(), node.name.text];
  const weak =
    (/^(?:it|test|describe)\b/.test(owner) && WEAKENED.has(member)) ||
    (owner === 'vi' && /^(?:doM|m)ock$/.test(member));
  return weak ? `${owner}.${member}` : undefined;
}
