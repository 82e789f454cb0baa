import type { ProjectTemplate } from './project-template.js';
import { express } from './templates/express.js';
import { minimal } from './templates/minimal.js';

/** The names of the templates. The first is the default. */
export const TEMPLATE_NAMES = ['minimal', 'express'] as const;

/** The name of a template. */
export type TemplateName = (typeof TEMPLATE_NAMES)[number];

/** Every template of a new project. */
export const TEMPLATES: Readonly<Record<TemplateName, ProjectTemplate>> = { minimal, express };
