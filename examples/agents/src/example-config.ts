import { OptionsError, readServerConfig, type ServerConfig } from 'parley-a2a/node';

/** What the server of the example agents can be told by environment variables. */
export interface ExampleConfig extends ServerConfig {
  /** `A2A_ALLOW_ANONYMOUS`: listen beyond loopback although nobody has to authenticate. */
  readonly allowAnonymous: boolean;
  /** `TCK_STREAMING_TIMEOUT`, given in seconds. */
  readonly streamingTimeoutMs: number;
}

/**
 * Reads the settings.
 * @throws OptionsError naming what is wrong with them.
 */
export function readExampleConfig(env: NodeJS.ProcessEnv): ExampleConfig {
  const config = readServerConfig(env, ['A2A_ALLOW_ANONYMOUS']);
  const { A2A_ALLOW_ANONYMOUS: anonymous = '', TCK_STREAMING_TIMEOUT: timeout = '' } = env;
  const seconds = timeout === '' ? 2 : Number(timeout);
  const problems = [
    ...(['', 'true', 'false'].includes(anonymous) ? [] : [`A2A_ALLOW_ANONYMOUS="${anonymous}" must be true or false`]),
    ...(seconds >= 0 && seconds <= 3600 ? [] : [`TCK_STREAMING_TIMEOUT="${timeout}" must be a number of seconds`]),
  ];
  if (problems.length > 0) throw new OptionsError('Environment', problems);
  return { ...config, allowAnonymous: anonymous === 'true', streamingTimeoutMs: seconds * 1000 };
}
