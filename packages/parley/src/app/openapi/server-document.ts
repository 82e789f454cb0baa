import { Components } from '../../openapi/components.js';
import type { OpenApiDocument, PathItem, Paths, Tag } from '../../openapi/document.js';

/** A group of endpoints in a document. */
interface DescribedEndpoints {
  readonly tags: readonly Tag[];
  readonly paths: Paths;
}

/** Describes endpoints; their security schemes, and schemas they need more than once, go to the components. */
export type Describe = (components: Components) => DescribedEndpoints;

const DESCRIPTION =
  'The agents of this server over the HTTP bindings of the Agent2Agent (A2A) protocol. Request schemas say what is really accepted: names also ' +
  'in snake_case, enum values also by number, integers also as texts, unknown members ignored. To send a request, use the first ' +
  'spelling of each member.';

/** A document with the base url that clients are told; "" while there is none. */
export function servedAt({ openapi, info, ...document }: OpenApiDocument, base: string): OpenApiDocument {
  return { openapi, info, ...(base !== '' && { servers: [{ url: base }] }), ...document };
}

/** The document of everything that is served, under no base url yet. */
export function serverDocument(describers: readonly Describe[]): OpenApiDocument {
  const components = new Components();
  const groups = describers.map((describe) => describe(components));
  const tags = groups.flatMap((group) => group.tags);
  const paths: Record<string, PathItem> = {};
  for (const group of groups) {
    // The first group that has an operation keeps it.
    for (const [path, item] of Object.entries(group.paths)) paths[path] = { ...paths[path], ...item, ...paths[path] };
  }
  const used = new Set(Object.values(paths).flatMap((item) => Object.values(item).flatMap(({ tags }) => tags)));
  const { schemas, securitySchemes } = components;
  return {
    openapi: '3.1.1',
    info: { title: 'Agents', version: '1.0.0', description: DESCRIPTION },
    tags: tags.filter(({ name }, at) => used.has(name) && tags.findIndex((tag) => tag.name === name) === at),
    paths,
    components: {
      schemas,
      ...(Object.keys(securitySchemes).length > 0 && { securitySchemes }),
    },
  };
}
