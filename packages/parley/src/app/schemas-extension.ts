import type { AgentExtension } from '../model/agent-card.js';
import type { JsonObject } from '../model/json.js';
import type { Clock } from '../runtime/clock.js';
import { type AgentSchemas, type DataSchemas, METADATA_PLACES, SCHEMAS_EXTENSION } from '../schemas/agent-schemas.js';
import { checkedExecutor } from '../schemas/checked-events.js';
import { checkedHandler } from '../schemas/checked-handler.js';
import type { CompiledSchema } from '../schemas/compiled-schema.js';
import type { AgentMount } from './agent-mount.js';
import type { AgentPlace, AroundAgent, HostEndpoint, HostExtension, HostView } from './host-extension.js';
import { jsonAnswer } from './json-answer.js';
import { readOnly } from './middleware/method-filter.js';

/** The schemas of one agent of a host. */
interface SchemasExtensionOptions {
  /** The path of the agent. Absent: all agents of the host. */
  readonly path: string | undefined;
  readonly schemas: AgentSchemas;
  /** The entries of the card for the extensions with schemas, without their schemas. */
  readonly declared: readonly AgentExtension[];
  readonly clock: Clock;
  /** The longest wait for schemas that need time, in ms. */
  readonly timeoutMs: number;
}

/** A schema that every caller may read. */
interface Published {
  readonly name: string;
  readonly schema: JsonObject | boolean;
}

/** Checks the data and metadata of agents by schemas, and publishes these. */
export class SchemasExtension implements HostExtension {
  readonly #options: SchemasExtensionOptions;

  constructor(options: SchemasExtensionOptions) {
    this.#options = options;
  }

  endpoints({ mounts }: HostView): readonly HostEndpoint[] {
    return mounts.filter(this.#serves).flatMap((mount) =>
      this.#published().map(({ name, schema }) => ({
        path: pathOf(mount, name),
        exchange: readOnly(async () =>
          jsonAnswer({ status: 200, value: schema, headers: { 'content-type': 'application/schema+json' } }),
        ),
        access: 'open' as const,
        without: ['start' as const],
      })),
    );
  }

  cardExtensions(mount: AgentMount, base: string): readonly AgentExtension[] {
    if (!this.#serves(mount)) return [];
    const { schemas, declared } = this.#options;
    const linked = (name: string, schema: CompiledSchema | undefined) =>
      schema?.published === undefined ? undefined : `${base}${pathOf(mount, name)}`;
    const skills = Object.fromEntries(
      [...schemas.skills].map(([id, own]) => [id, linksOf(own, (side) => linked(skillName(id, side), own[side]))]),
    );
    const own: AgentExtension = {
      uri: SCHEMAS_EXTENSION,
      description: 'The JSON Schemas of data parts: of messages to the agent, and of its answers.',
      required: false,
      params: {
        ...linksOf(schemas, (side) => linked(side, schemas[side])),
        ...(schemas.skills.size > 0 && { skills }),
      },
    };
    const further = schemas.extensions.map(({ uri, schemas: places }, index) => {
      const entry = declared[index];
      const links = METADATA_PLACES.map((place) => [place, linked(extensionName(index, place), places[place])]);
      const known = Object.fromEntries(links.filter(([, link]) => link !== undefined)) as JsonObject;
      return { ...entry, uri, params: { ...entry?.params, schemas: known } };
    });
    const hasData = schemas.input ?? schemas.output ?? (schemas.skills.size > 0 ? schemas : undefined);
    return hasData === undefined ? further : [own, ...further];
  }

  aroundAgent({ path }: AgentPlace): AroundAgent | undefined {
    const { path: own } = this.#options;
    if (own !== undefined && own !== path) return undefined;
    return {
      handler: (handler) => checkedHandler(handler, this.#options),
      executor: (executor, logger) => checkedExecutor(executor, this.#options, logger),
    };
  }

  readonly #serves = (mount: AgentMount): boolean =>
    this.#options.path === undefined || this.#options.path === mount.path;

  #published(): readonly Published[] {
    const { input, output, skills, extensions } = this.#options.schemas;
    const named: [string, CompiledSchema | undefined][] = [
      ['input', input],
      ['output', output],
      ...[...skills].flatMap(([id, own]): [string, CompiledSchema | undefined][] => [
        [skillName(id, 'input'), own.input],
        [skillName(id, 'output'), own.output],
      ]),
      ...extensions.flatMap(({ schemas }, index) =>
        METADATA_PLACES.map((place): [string, CompiledSchema | undefined] => [
          extensionName(index, place),
          schemas[place],
        ]),
      ),
    ];
    return named.flatMap(([name, schema]) =>
      schema?.published === undefined ? [] : { name, schema: schema.published },
    );
  }
}

function linksOf(schemas: DataSchemas, link: (side: keyof DataSchemas) => string | undefined): JsonObject {
  const [input, output] = [schemas.input && link('input'), schemas.output && link('output')];
  return { ...(input !== undefined && { input }), ...(output !== undefined && { output }) };
}

function skillName(id: string, side: keyof DataSchemas): string {
  return `skills/${encodeURIComponent(id)}/${side}`;
}

function extensionName(index: number, place: string): string {
  return `extensions/${index + 1}/${place}`;
}

function pathOf(mount: AgentMount, name: string): string {
  return `${mount.path === '/' ? '' : mount.path}/schemas/${name}`;
}
