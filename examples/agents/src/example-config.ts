import { OptionsError, readServerConfig, type ServerConfig } from 'parley-a2a/node';

/** What the server of the example agents can be told by environment variables. */
export interface ExampleConfig extends ServerConfig {
  /** `TCK_STREAMING_TIMEOUT`, given in seconds. */
  readonly streamingTimeoutMs: number;
}

/**
 * Reads the settings.
 * @throws OptionsError naming what is wrong with them.
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
