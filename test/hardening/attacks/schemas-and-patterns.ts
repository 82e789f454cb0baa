import type { Attack } from './attack.js';

const PATTERNS = 'test/schemas/patterns.test.ts';
const SCHEMAS = 'test/schemas/schemas.test.ts';
const WRONG = 'test/schemas/wrong-schemas.test.ts';
const CONTROL = 'test/schemas/control-parts.test.ts';
const SEALED = 'test/message-signing/schemas.test.ts';
const LINEAR = 'packages/parley/src/schemas/linear-pattern.test.ts';

export const SCHEMAS_AND_PATTERNS: readonly Attack[] = [
  {
    attack: 'a text for alternatives in a row, such as (aa|a) 26 times, which double the ways to read it',
    file: PATTERNS,
    test: 'alternatives in a row',
  },
  {
    attack: 'a text for optional characters and groups in a row, without any repetition',
    file: PATTERNS,
    test: 'optional groups in a row',
  },
  {
    attack: 'a text for classes in a row that share characters, such as [a-c]?[b-d]?',
    file: PATTERNS,
    test: 'overlapping classes in a row',
  },
  {
    attack: 'a text for Unicode properties that overlap with \\w in a repeated choice',
    file: PATTERNS,
    test: 'classes of Unicode that overlap',
  },
  {
    attack: 'the name of a member as the text for a slow pattern in propertyNames',
    file: PATTERNS,
    test: 'names of members too',
  },
  {
    attack: 'many short texts in a list, each within the bound for one text, that cost seconds together',
    file: SCHEMAS,
    test: 'many texts',
  },
  {
    attack:
      'a text that uses up the steps below `not`, so that the pattern counts as not matched and the data as valid',
    file: SCHEMAS,
    test: 'a text that must not fit',
  },
  {
    attack: 'a count of no characters, such as (?:){1000000000}, that keeps the reader of the pattern busy',
    file: LINEAR,
    test: '^(?:){1000000000}$',
  },
  {
    attack: 'nested counts that make millions of steps of a short pattern, and take the memory',
    file: LINEAR,
    test: 'counts that multiply',
  },
  {
    attack: 'random text that leads the automaton to ever new places, and fills the memory with them',
    file: LINEAR,
    test: 'what is remembered has a bound',
  },
  {
    attack: 'references below `dependencies`, which draft 7 has, that multiply past the count of schemas',
    file: SCHEMAS,
    test: 'dependencies that multiply',
  },
  {
    attack: 'a dependency on a member called pattern, whose schema is taken for a pattern or not looked at',
    file: SCHEMAS,
    test: 'a pattern below a dependency',
  },
  {
    attack: 'a text of 4,090 characters that makes the expression of a format go back',
    file: SCHEMAS,
    test: 'and a format costs no more for a hostile text than for a plain one',
  },
  {
    attack: 'a type that JSON has not, such as objekt, which lets every value pass',
    file: WRONG,
    test: 'a type that JSON has not',
  },
  {
    attack: 'a keyword with a value of the wrong type, such as required: "city", which is ignored',
    file: WRONG,
    test: 'a text for a list',
  },
  {
    attack: 'the schema false in any place, which another reader takes for no schema at all',
    file: WRONG,
    test: 'true and false are schemas',
  },
  {
    attack: 'a part that its metadata mark as one of the toolkit, so that no schema checks it',
    file: CONTROL,
    test: 'metadata that look like a mark',
  },
  {
    attack: 'a decision about a call with members of its own, which reach the agent unchecked',
    file: CONTROL,
    test: 'a decision with more members',
  },
  {
    attack: 'a question with the mark of the toolkit from another agent, which makes any answer pass',
    file: CONTROL,
    test: 'through an agent that passes on the question of another one',
  },
  {
    attack: 'an encrypted part in the form of an answer, which the check cannot read',
    file: SEALED,
    test: 'refuses encrypted parts in the form of an answer to no question, or in another form',
  },
];
