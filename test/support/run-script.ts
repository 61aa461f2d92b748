/** Scripts that tests run in a process of their own, because they end or kill it. */

/**
 * Returns the arguments with which Node runs the text of a module that imports the sources. Node reads them as tests do, from the cache of
 * compiled code: without it, a start takes a second more.
 */
export function scriptArguments(script: string, ...words: readonly string[]): string[] {
  return ['--import=./scripts/run-sources.js', '--input-type=module', '-e', script, '--', ...words];
}
