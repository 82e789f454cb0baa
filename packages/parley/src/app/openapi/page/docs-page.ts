import type { DescribedOperation, OpenApiDocument, Parameter } from '../../../openapi/document.js';
import { asMarkup, html, type Markup } from './markup.js';
import { schemaAnchor, schemaMarkup } from './schema-markup.js';
import { STYLE } from './style.js';

const METHODS = ['get', 'post', 'delete'] as const;

/** A document as a page for people: one file without scripts, in which everything can be reached by keyboard. */
export function docsPage(document: OpenApiDocument): string {
  const { info, tags, servers } = document;
  const groups = tags.map(({ name, description }) => ({ name, description, operations: operationsOf(document, name) }));
  const contents = groups.map(
    ({ name, operations }) => html`<li><a href="#${anchor(name)}">${name}</a> <small>${operations.length}</small></li>`,
  );
  const sections = groups.map(
    ({ name, description, operations }) => html`
<section aria-labelledby="${anchor(name)}">
<h2 id="${anchor(name)}">${name}</h2>
<p>${description}</p>
${operations.map((operation) => operationMarkup(document, operation))}
</section>`,
  );
  const schemas = Object.entries(document.components.schemas).map(
    ([name, schema]) => html`
<details id="${schemaAnchor(name)}"><summary><code>${name}</code></summary>${schemaMarkup(schema)}</details>`,
  );
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${info.title}</title>
<style>${asMarkup(STYLE)}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<nav aria-label="Contents">
<ul>${contents}<li><a href="#schemas">Schemas</a> <small>${schemas.length}</small></li></ul>
</nav>
<main id="main">
<h1>${info.title}</h1>
<p>${info.description}</p>
<p>${servers?.[0] === undefined ? '' : html`Served at <code>${servers[0].url}</code>. `}For programs:
<a href="openapi.json">OpenAPI 3.1</a>, <a href="openapi-3.0.json">OpenAPI 3.0</a>.</p>
<section aria-labelledby="marks"><h2 id="marks">Marks</h2>
<dl>
<dt>*</dt><dd>This parameter or member is required.</dd>
<dt>{id}</dt><dd>In a path: put a value in its place.</dd>
<dt>…</dt><dd>In a call to try: fill in a value of your own.</dd>
<dt>a | b</dt><dd>One of these values.</dd>
<dt><code>"text"</code></dt><dd>Exactly this value.</dd>
<dt><a href="#schemas">Name</a></dt><dd>A schema further down on this page.</dd>
<dt><small>12</small></dt><dd>In the contents: the number of operations in a group.</dd>
</dl></section>
${sections}
<section aria-labelledby="schemas"><h2 id="schemas">Schemas</h2>${schemas}</section>
</main>
</body>
</html>
`;
  return page.text;
}

interface PlacedOperation {
  readonly method: string;
  readonly path: string;
  readonly operation: DescribedOperation;
}

function operationsOf({ paths }: OpenApiDocument, tag: string): readonly PlacedOperation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      return operation?.tags.includes(tag) === true ? [{ method, path, operation }] : [];
    }),
  );
}

function operationMarkup(document: OpenApiDocument, { method, path, operation }: PlacedOperation): Markup {
  const { operationId, summary, description, parameters = [], requestBody, responses, security = [] } = operation;
  return html`
<details id="${operationId}">
<summary><b class="${method}">${method.toUpperCase()}</b> <code>${path}</code> <span>${summary}</span></summary>
${description === undefined ? '' : html`<p>${description}</p>`}
${security.length === 0 ? '' : html`<p>Who may call: ${security.map((one) => Object.keys(one).join(' and ') || 'anybody').join(', or ')}.</p>`}
${parameters.length === 0 ? '' : html`<h3>Parameters</h3><table><thead><tr><th>name</th><th>in</th><th>type</th><th></th></tr></thead><tbody>${parameters.map(parameterMarkup)}</tbody></table>`}
${requestBody === undefined ? '' : html`<h3>Body${requestBody.required ? '' : ', if any'}</h3>${contentMarkup(requestBody.content)}`}
<h3>Answers</h3>
${Object.entries(responses).map(
  ([status, { description: meaning, headers = {}, content = {} }]) => html`
<div class="answer"><b>${status}</b> <span>${meaning}</span>
${Object.entries(headers).map(([name, header]) => html`<p><code>${name}</code> ${header.description}</p>`)}
${contentMarkup(content)}</div>`,
)}
<h3>Try it</h3>
<pre tabindex="0"><code>${callOf(document, { method, path, operation })}</code></pre>
</details>`;
}

function parameterMarkup({ name, in: place, required, description, schema }: Parameter): Markup {
  return html`<tr><td><code>${name}</code>${required === true ? ' *' : ''}</td><td>${place}</td><td>${schemaMarkup(schema)}</td><td>${description}</td></tr>`;
}

/** Most bodies have one schema under several media types. */
function contentMarkup(content: NonNullable<DescribedOperation['requestBody']>['content']): Markup {
  const bySchema = new Map<string, { readonly types: string[]; readonly schema: object }>();
  for (const [type, { schema }] of Object.entries(content)) {
    const key = JSON.stringify(schema);
    const known = bySchema.get(key);
    if (known === undefined) bySchema.set(key, { types: [type], schema });
    else known.types.push(type);
  }
  return html`${[...bySchema.values()].map(({ types, schema }) => html`<p>${types.join(', ')}</p>${schemaMarkup(schema as never)}`)}`;
}

/** A call from a terminal, with what a caller has to fill in. */
function callOf({ servers }: OpenApiDocument, { method, path, operation }: PlacedOperation): string {
  const base = servers?.[0]?.url ?? '';
  const headers = (operation.parameters ?? []).filter(
    ({ in: place, required }) => place === 'header' && required === true,
  );
  const lines = [
    `curl${method === 'get' ? '' : ` -X ${method.toUpperCase()}`} '${base}${path}'`,
    ...headers.map(({ name }) => `  -H '${name}: ${name === 'A2A-Version' ? '1.0' : '…'}'`),
    ...(operation.requestBody === undefined ? [] : [`  -H 'Content-Type: application/json'`, `  -d '{…}'`]),
  ];
  return lines.join(' \\\n');
}

function anchor(name: string): string {
  return `group-${name.replace(/[^A-Za-z0-9]+/g, '-')}`;
}
