/** Parses groups of header-like fields: delivery status, feedback report, message header (RFC 3464 §2.1, RFC 5965 §3, RFC 5322 §2.2). */

/**
 * Yields the groups of a text, which blank lines separate: field names in lower case, values unfolded. If a field occurs more
 * than once in a group, the first one counts. Lines that are not a field are skipped.
 */
export function* fieldGroups(text: string): Generator<Map<string, string>> {
  let group = new Map<string, string>();
  let open: string | null = null;
  for (const line of text.split(/\r\n|\n|\r/)) {
    if (line.trim() === '') {
      if (group.size > 0) yield group;
      group = new Map();
      open = null;
    } else if (/^[ \t]/.test(line)) {
      if (open !== null) group.set(open, `${group.get(open)} ${line.trim()}`);
    } else {
      const colon = line.indexOf(':');
      const name = line.slice(0, Math.max(colon, 0)).trimEnd().toLowerCase();
      open = /^[!-9;-~]+$/.test(name) && !group.has(name) ? name : null;
      if (open !== null) group.set(open, line.slice(colon + 1).trim());
    }
  }
  if (group.size > 0) yield group;
}
