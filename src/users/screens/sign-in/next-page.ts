/** The page that opens after signing in: the page that the user wanted to open, if it belongs to this installation. */

const MAX_LENGTH = 1000;
/**
 * A path with its query. The pattern excludes `//host` and `/\host`, which browsers read as another host, and control characters,
 * which browsers drop.
 */
const OWN_PATH = /^\/(?![/\\])[!-[\]-~]*$/;

/** Returns the path to open after signing in: `path` if it is a path of this installation, otherwise `/`. */
export function nextPage(path: string | undefined): string {
  return path !== undefined && path.length <= MAX_LENGTH && OWN_PATH.test(path) ? path : '/';
}

/** Returns the path of the sign-in page that leads back to `path`. */
export function loginPath(path: string): string {
  const next = nextPage(path);
  return next === '/' ? '/login' : `/login?${new URLSearchParams({ next })}`;
}
