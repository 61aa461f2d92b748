/** Where somebody goes after signing in: back to the page they opened, if it is one of ours. */

const MAX_LENGTH = 1000;
/** A path with its query. Browsers read `//host` and `/\host` as another host, and leave control characters out. */
const OWN_PATH = /^\/(?![/\\])[!-[\]-~]*$/;

/** The path to go to after signing in; `/` where another site, or none, is given. */
export function nextPage(given: string | undefined): string {
  return given !== undefined && given.length <= MAX_LENGTH && OWN_PATH.test(given) ? given : '/';
}

/** The address of the page for signing in that leads back to `path`. */
export function loginPath(path: string): string {
  const next = nextPage(path);
  return next === '/' ? '/login' : `/login?${new URLSearchParams({ next })}`;
}
