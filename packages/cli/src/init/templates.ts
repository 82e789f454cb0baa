import type { ProjectTemplate } from './project-template.js';
import type { TemplateName } from './template-names.js';
import { aiSdk } from './templates/ai-sdk.js';
import { express } from './templates/express.js';
import { langgraph } from './templates/langgraph.js';
import { minimal } from './templates/minimal.js';
import { toolsWithApproval } from './templates/tools-with-approval.js';

/** Every template of a new project. */
export const TEMPLATES: Readonly<Record<TemplateName, ProjectTemplate>> = {
  minimal,
  'ai-sdk': aiSdk,
  langgraph,
  'tools-with-approval': toolsWithApproval,
  express,
};
