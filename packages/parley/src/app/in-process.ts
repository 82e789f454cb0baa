import type { InProcessPlace, InProcessWay } from '../bindings/in-process/in-process-agent.js';
import type { InProcessStreams } from '../bindings/in-process/in-process-events.js';
import type { HostExtension, HostView } from './host-extension.js';

/** The clients in the process of a host. Their code is loaded with the first of them. */
export class InProcess implements HostExtension {
  readonly #subject: string;
  #host: HostView | undefined;
  #streams: InProcessStreams | undefined;

  /** `subject` names the function that made the host, for errors. */
  constructor(subject: string) {
    this.#subject = subject;
  }

  endpoints(host: HostView): readonly [] {
    this.#host = host;
    return [];
  }

  /**
   * The way to an agent of the host.
   * @throws OptionsError if no agent is under the path, or the path is absent and the host has several agents.
   */
  async way(place: InProcessPlace): Promise<InProcessWay> {
    const { InProcessStreams, inProcessWay } = await import('./in-process-way.js');
    this.#streams ??= new InProcessStreams();
    return inProcessWay({ subject: this.#subject, host: this.#host, place, streams: this.#streams });
  }

  /** Ends the streams. Absent streams mean that no client has called `way`. */
  async close(graceMs: number): Promise<void> {
    const { clock } = this.#host ?? {};
    if (clock !== undefined) await this.#streams?.close(graceMs, clock);
  }
}
