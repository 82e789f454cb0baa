import type { ArtifactEvent, StatusEvent } from '../../codec/v0_3/wire-types.js';
import type { Logger } from '../../telemetry/logger.js';

/** A callback that writes each event to a logger. */
export class LoggingCallback {
  /** @param logger Gets one line per event. */
  constructor(logger: Pick<Logger, 'info'>) {
    this.onStatusUpdate = ({ taskId, status: { state } }) => logger.info('task status', { taskId, state });
    this.onArtifactUpdate = ({ taskId, artifact: { artifactId } }) =>
      logger.info('task artifact', { taskId, artifactId });
    // Cap'n Web sends functions of plain objects only.
    Object.setPrototypeOf(this, Object.prototype);
  }

  readonly onStatusUpdate: (event: StatusEvent) => void;
  readonly onArtifactUpdate: (event: ArtifactEvent) => void;
}
