import { OptionsError, readServerConfig, type ServerConfig } from 'parley-a2a/node';

/** Settings of the example server, from environment variables. */
export interface ExampleConfig extends ServerConfig {
  /** From `TCK_STREAMING_TIMEOUT`, which is in seconds. */
  readonly streamingTimeoutMs: number;
}

/**
 * Reads the settings.
 * @throws OptionsError naming the invalid ones.
 */
export function readExampleConfig(env: NodeJS.ProcessEnv): ExampleConfig {
  const config = readServerConfig(env);
  const { TCK_STREAMING_TIMEOUT: timeout = '' } = env;
  const seconds = timeout === '' ? 2 : Number(timeout);
  if (!(seconds >= 0 && seconds <= 3600)) {
    throw new OptionsError('Environment', [`TCK_STREAMING_TIMEOUT="${timeout}" must be a number of seconds`]);
  }
  return { ...config, streamingTimeoutMs: seconds * 1000 };
}
