/**
 * The key of the method with which a server object accepts calls from its own process. It is a registered symbol, so
 * that two copies of the package in one process share it.
 */
export const IN_PROCESS: unique symbol = Symbol.for('parley-a2a.in-process');
