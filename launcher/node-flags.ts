/**
 * How a launcher's Node is started so that a node holds many of them:
 * `node ...launcherNodeFlags launcher.mjs …` in an environment with `launcherEnvironment`.
 *
 * Private memory (Private_* of smaps_rollup) with a running machine, Node 20, at the start and after 20 MB of console
 * traffic and 600 calls: 10.7 and 11 to 43 MB without any of this; 10.9 and 11 to 38 MB with the flags, one arena and one
 * thread; 10.9 and 10.0 to 11.1 MB with all of it. `--lite-mode` would take another 1.5 MB off and give up compilation;
 * `--max-lazy`, `--no-opt`, `--optimize-for-size` and `--single-threaded` change nothing that can be measured.
 */
export const launcherNodeFlags: readonly string[] = [
  // Young objects are collected after 1 MB rather than 16. It makes Node compile its own modules anew, a sixth of the start.
  '--max-semi-space-size=1',
  // No helper threads for garbage collection and compilation.
  '--v8-pool-size=0',
];

export const launcherEnvironment: Readonly<Record<string, string>> = {
  UV_THREADPOOL_SIZE: '1',
  MALLOC_ARENA_MAX: '1',
  // Every read of a socket takes a buffer of 64 kB. From the heap they leave holes behind that are never given back;
  // mapped one by one they are gone when they are freed.
  MALLOC_MMAP_THRESHOLD_: '32768',
  MALLOC_TRIM_THRESHOLD_: '65536',
};
