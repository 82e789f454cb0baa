/**
 * The key of the method by which a server object takes calls of its own process. Registered, so that two copies of the
 * package in a process fit together.
 */
export const IN_PROCESS: unique symbol = Symbol.for('parley-a2a.in-process');
