/** The turn is over: what its agent still publishes is refused. */
export class TurnOverError extends Error {
  override readonly name = 'TurnOverError';
  constructor() {
    super('The turn is over; the event was not accepted');
  }
}
