/**
 * How a launcher's Node is started so that a node holds many: `node ...launcherNodeFlags launcher.mjs …` in an environment
 * with `launcherEnvironment`. Measured with a running guest; see the table in the launcher's README.
 */
export const launcherNodeFlags: readonly string[] = ['--max-semi-space-size=1', '--v8-pool-size=0'];

export const launcherEnvironment: Readonly<Record<string, string>> = {
  UV_THREADPOOL_SIZE: '1',
  MALLOC_ARENA_MAX: '1',
};
