/** The page after signing in: the one that the user wanted to open, if it is one of ours. */

const MAX_LENGTH = 1000;
/**
 * A path with its query. Excludes `//host` and `/\host`, which browsers read as another host, and control characters, which browsers drop.
 */
const OWN_PATH = /^\/(?![/\\])[!-[\]-~]*$/;

/** Returns the path to open after signing in; `/` if another site or nothing is given. */
export function nextPage(path: string | undefined): string {
  return path !== undefined && path.length <= MAX_LENGTH && OWN_PATH.test(path) ? path : '/';
}

/** Returns the path of the sign-in page that leads back to `path`. */
export function loginPath(path: string): string {
  const next = nextPage(path);
  return next === '/' ? '/login' : `/login?${new URLSearchParams({ next })}`;
}
