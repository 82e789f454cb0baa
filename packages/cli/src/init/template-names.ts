/** The names of the templates of new projects. The first is the default. */
export const TEMPLATE_NAMES = ['minimal', 'ai-sdk', 'langgraph', 'tools-with-approval', 'express'] as const;

/** The name of a template. */
export type TemplateName = (typeof TEMPLATE_NAMES)[number];
