// Reads the comments of the sources, for the tables of the reference.
import { readFileSync } from 'node:fs';
import ts from 'typescript';

/**
 * The members of an interface, or of a constant with an object or a list, in their order. Each has its name, the text
 * of its comment on one line, and the tags of the comment by name.
 */
export function commentsOf(path, name) {
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.ESNext, true);
  return membersOf(source, name).map((member) => {
    const found = (ts.getLeadingCommentRanges(source.text, member.pos) ?? []).findLast(({ pos }) =>
      source.text.startsWith('/**', pos),
    );
    const own = (member.name ?? member).getText(source).replace(/^'|'$/g, '');
    if (found === undefined) return { name: own, comment: undefined, tags: {} };
    const text = source.text
      .slice(found.pos + 3, found.end - 2)
      .replace(/^ *\* ?/gm, ' ')
      .replace(/\s+/g, ' ')
      .replace(/\{@link (\w+)\}/g, '`$1`')
      .trim();
    const [comment, ...tags] = ` ${text}`.split(/ @(?=\w)/);
    const byName = Object.fromEntries(tags.map((tag) => [/^\w+/.exec(tag)[0], tag.replace(/^\w+ ?/, '')]));
    return { name: own, comment: comment.trim(), tags: byName };
  });
}

function membersOf(source, name) {
  for (const statement of source.statements) {
    if (ts.isInterfaceDeclaration(statement) && statement.name.text === name) return statement.members;
    if (!ts.isVariableStatement(statement)) continue;
    const [{ name: declared, initializer }] = statement.declarationList.declarations;
    if (declared.getText(source) !== name) continue;
    let literal = initializer;
    while (ts.isAsExpression(literal) || ts.isSatisfiesExpression(literal)) literal = literal.expression;
    return literal.properties ?? literal.elements;
  }
  throw new Error(`${source.fileName} has no ${name}`);
}

const DEFAULT = /(?:^|(?<=\.) |;) ?default:? (.+?)\.(?= |$)/i;

/** The meaning of an option, and its default: a tag, or the sentence of the comment that begins with "Default". */
export function optionOf({ name, comment, tags }) {
  if (comment === undefined) return { meaning: undefined, value: tags.defaultValue };
  const [sentence, said = ''] = tags.defaultValue === undefined ? (DEFAULT.exec(comment) ?? ['']) : [''];
  const [value, reason] = said.split(/: (.+)/);
  const rest = comment.replace(sentence, sentence.startsWith(';') ? '.' : '').trim();
  const meaning = reason === undefined ? rest : `${rest} ${reason[0].toUpperCase()}${reason.slice(1)}.`;
  return { name, meaning: meaning.replace(/\.$/, ''), value: tags.defaultValue ?? value };
}
