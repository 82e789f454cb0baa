// Describes the public types of a package as text, from its compiled declarations.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { root } from './processes.mjs';
import { publishedFolders } from './workspaces.mjs';

const DECLARATIONS = new Set([
  ts.SyntaxKind.ClassDeclaration,
  ts.SyntaxKind.EnumDeclaration,
  ts.SyntaxKind.FunctionDeclaration,
  ts.SyntaxKind.InterfaceDeclaration,
  ts.SyntaxKind.ModuleDeclaration,
  ts.SyntaxKind.TypeAliasDeclaration,
  ts.SyntaxKind.VariableDeclaration,
]);

const printer = ts.createPrinter({ removeComments: true });

/**
 * The public types of packages, read from their built declarations. `entries` has the symbols of each import path, and
 * `behind` those of the package that these name and no path exports.
 */
export function publicApis(folders = publishedFolders().map((folder) => join(root, folder))) {
  const packages = folders
    .map(asCompiler)
    .map(entriesOf)
    .filter(({ entries }) => entries.length > 0);
  const { program, checker } = programOf(packages);
  return packages.map(({ folder, name, entries }) => {
    const exported = entries.map(({ path, file }) => {
      const module = checker.getSymbolAtLocation(program.getSourceFile(file));
      return { path, symbols: symbolsOf(checker, folder, module).sort(byName) };
    });
    const behind = symbolsBehind(checker, folder, new Set(exported.flatMap(({ symbols }) => symbols)));
    return { folder, name, entries: exported, behind };
  });
}

/** The report of a package: a section for each import path, then one for the types behind them. */
export function reportOf({ name, entries, behind }) {
  const places = new Map();
  const sections = entries.map(({ path, symbols }) => {
    const texts = symbols.map((symbol) => {
      const place = places.get(symbol.target) ?? symbol.from;
      places.set(symbol.target, place ?? path);
      return place === undefined ? symbol.text : `export { ${symbol.name} } from '${place}';`;
    });
    return [`=== ${path} ===`, ...texts];
  });
  const last = behind.length === 0 ? [] : ['=== not exported, but named above ===', ...behind.map(({ text }) => text)];
  return `${[`Public types of ${name}, written by \`npm run api\``, ...sections.flat(), ...last].join('\n\n')}\n`;
}

/** The file of the report of a package. */
export function reportFile({ folder }) {
  return join(folder, 'api.txt');
}

/** The packages whose report differs from their built types. */
export function outdatedApis(apis = publicApis()) {
  return apis.filter((api) => {
    const file = reportFile(api);
    return !existsSync(file) || readFileSync(file, 'utf8') !== reportOf(api);
  });
}

/** A path as the compiler writes it: with slashes on Windows, too. */
function asCompiler(path) {
  return path.replaceAll('\\', '/');
}

/** The import paths of a package, each with the file of its types. */
function entriesOf(folder) {
  const { name, exports = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const entries = Object.entries(exports).flatMap(([path, target]) => {
    const types = target.types ?? String(target.default ?? target).replace(/\.js$/, '.d.ts');
    return types.endsWith('.d.ts') ? [{ path: path.replace('.', name), file: asCompiler(join(folder, types)) }] : [];
  });
  return { folder, name, entries };
}

/** A program over the declarations of the packages. It does not read other packages, whose names are enough. */
function programOf(packages) {
  const files = new Map(packages.flatMap(({ entries }) => entries.map(({ path, file }) => [path, file])));
  const options = { noLib: true, types: [], target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.NodeNext };
  const host = ts.createCompilerHost(options);
  host.resolveModuleNameLiterals = (literals, from) =>
    literals.map(({ text }) => {
      const declared = () => asCompiler(join(dirname(from), text.replace(/\.js$/, '.d.ts')));
      const file = text.startsWith('.') ? declared() : files.get(text);
      const resolved = { resolvedFileName: file, extension: ts.Extension.Dts, isExternalLibraryImport: false };
      return { resolvedModule: file === undefined ? undefined : resolved };
    });
  const program = ts.createProgram([...files.values()], options, host);
  return { program, checker: program.getTypeChecker() };
}

/**
 * The exported names of a module, those of a namespace with its name before them. Each has its declarations, their
 * text, and the package that they come from if it is another one.
 */
function symbolsOf(checker, folder, module, prefix = '') {
  return checker.getExportsOfModule(module).flatMap((exported) => {
    const name = `${prefix}${exported.name}`;
    const target = targetOf(checker, exported);
    if (target.declarations.some(ts.isSourceFile)) return symbolsOf(checker, folder, target, `${name}.`);
    const file = fileOf(target);
    const from = file.startsWith(`${folder}/`) ? undefined : packageOf(file);
    return [{ name, target, from, text: textOf(name, target) }];
  });
}

/** The symbol that an alias stands for; the alias itself if the program does not read its package. */
function targetOf(checker, symbol) {
  if ((symbol.flags & ts.SymbolFlags.Alias) === 0) return symbol;
  const target = checker.getAliasedSymbol(symbol);
  return target.declarations === undefined ? symbol : target;
}

function fileOf(symbol) {
  return symbol.declarations[0].getSourceFile().fileName;
}

function packageOf(file) {
  const folder = dirname(file);
  const manifest = join(folder, 'package.json');
  return existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')).name : packageOf(folder);
}

/** The symbols of the package that the declarations of exported ones name, and those that these name in turn. */
function symbolsBehind(checker, folder, exported) {
  const seen = new Set([...exported].map(({ target }) => target));
  const behind = [];
  const visit = (node) => {
    if (isPrivate(node)) return;
    if (ts.isIdentifier(node)) {
      const named = checker.getSymbolAtLocation(node);
      const target = named && targetOf(checker, named);
      if (target?.declarations?.some(isAtTop) && !seen.has(target) && fileOf(target).startsWith(`${folder}/`)) {
        seen.add(target);
        behind.push({ name: target.name, target, text: textOf(target.name, target) });
        target.declarations.forEach(visit);
      }
    }
    ts.forEachChild(node, visit);
  };
  for (const { from, target } of exported) if (from === undefined) target.declarations.forEach(visit);
  return behind.sort(byName);
}

function isAtTop(node) {
  if (!DECLARATIONS.has(node.kind)) return false;
  return ts.isSourceFile(ts.isVariableDeclaration(node) ? node.parent.parent.parent : node.parent);
}

function isPrivate(node) {
  if (node.name !== undefined && ts.isPrivateIdentifier(node.name)) return true;
  return ts.canHaveModifiers(node) && node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword);
}

/** The declarations of a symbol without comments. Members that are not private are sorted by name. */
function textOf(name, target) {
  const texts = target.declarations.map((declaration) => {
    const text = printer.printNode(
      ts.EmitHint.Unspecified,
      sortUnions(sortMembers(declaration)),
      declaration.getSourceFile(),
    );
    return `${ts.isVariableDeclaration(declaration) ? 'const ' : ''}${text}`.replace(/^(export |declare )+/, '');
  });
  return [...texts, ...(target.name === name ? [] : [`export { ${target.name} as ${name} };`])].join('\n');
}

/** The node with each union in the order of its texts. The compiler prints inferred unions in any order. */
function sortUnions(node) {
  const textOf = (type) => printer.printNode(ts.EmitHint.Unspecified, type, node.getSourceFile());
  const sort = (context) => {
    const visit = (child) => {
      const visited = ts.visitEachChild(child, visit, context);
      if (!ts.isUnionTypeNode(visited)) return visited;
      const texts = new Map(visited.types.map((type) => [type, textOf(type)]));
      const order = (one, other) => (texts.get(one) < texts.get(other) ? -1 : 1);
      return ts.factory.createUnionTypeNode([...visited.types].sort(order));
    };
    return visit;
  };
  return ts.transform(node, [sort]).transformed[0];
}

function sortMembers(node) {
  if (!(ts.isClassDeclaration(node) || ts.isInterfaceDeclaration(node))) return node;
  const named = node.members.map((member) => ({ name: member.name?.getText() ?? '', member }));
  const members = named.sort(byName).flatMap(({ member }) => (isPrivate(member) ? [] : [member]));
  const { modifiers, name, typeParameters, heritageClauses } = node;
  return ts.isClassDeclaration(node)
    ? ts.factory.createClassDeclaration(modifiers, name, typeParameters, heritageClauses, members)
    : ts.factory.createInterfaceDeclaration(modifiers, name, typeParameters, heritageClauses, members);
}

/** The order of names; that of texts for two declarations of a name. */
function byName(one, other) {
  const [first, second] = one.name === other.name ? [one.text ?? '', other.text ?? ''] : [one.name, other.name];
  return first < second ? -1 : first > second ? 1 : 0;
}
