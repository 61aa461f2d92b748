/** Tells whether the fields of a form were changed by somebody else since it was opened. */
import { createHash } from 'node:crypto';

/** The fields that a step changes. */
export type Fields = Readonly<Record<string, string | readonly string[]>>;

/** What a form carries along to tell later whether its fields were changed by somebody else: a digest of their values. */
export function seenValue(fields: Fields): string {
  const ordered = Object.entries(fields).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : [...value].sort(),
  ]);
  return createHash('sha256').update(JSON.stringify(ordered)).digest('base64url').slice(0, 22);
}
