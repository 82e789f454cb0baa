/** A project with an agent, for `npm create parley-a2a` and `parley init`. */

export { helpText, UsageError } from './command-line.js';
export { type NewProject, projectFiles } from './project-files.js';
export { type Answers, QUESTIONS } from './questions.js';
export { type Invocation, run } from './run.js';
