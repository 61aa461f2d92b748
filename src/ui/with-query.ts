/** Makes paths with query parameters. */

/** Returns a path with its query parameters. Parameters that are undefined or empty are left out. */
export function withQuery(path: string, query: Readonly<Record<string, string | number | undefined>>): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)]],
  );
  return pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs)}`;
}
