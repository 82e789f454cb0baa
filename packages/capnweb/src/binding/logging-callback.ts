import type { Logger } from 'parley-a2a';
import type { ArtifactEvent, StatusEvent } from 'parley-a2a/v0_3';

/** A callback that writes each event to a logger. */
export class LoggingCallback {
  /** @param logger Gets one line per event. */
  constructor(logger: Pick<Logger, 'info'>) {
    const status = ({ taskId, status: { state } }: StatusEvent) => logger.info('task status', { taskId, state });
    const artifact = ({ taskId, artifact: { artifactId } }: ArtifactEvent) =>
      logger.info('task artifact', { taskId, artifactId });
    this.onStatusUpdate = status;
    this.onArtifactUpdate = artifact;
    // Cap'n Web passes functions only of plain objects.
    Object.setPrototypeOf(this, Object.prototype);
  }

  readonly onStatusUpdate: (event: StatusEvent) => void;
  readonly onArtifactUpdate: (event: ArtifactEvent) => void;
}
