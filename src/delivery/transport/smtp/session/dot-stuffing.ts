/** Dot-stuffing, which RFC 5321 4.5.2 calls transparency: no line of the message may look like the end of data. */

const LINE_THEN_DOT = Buffer.from('\n.');
const DOT = 0x2e;

/**
 * Doubles every dot at the start of a line; returns the same Buffer if there is none. A bare LF counts as a line end,
 * because some relays read it as one and would find an end of data there.
 */
export function stuffDots(message: Buffer): Buffer {
  const places = message[0] === DOT ? [0] : [];
  for (let at = message.indexOf(LINE_THEN_DOT); at !== -1; at = message.indexOf(LINE_THEN_DOT, at + 2)) {
    places.push(at + 1);
  }
  if (places.length === 0) return message;

  const stuffed = Buffer.allocUnsafe(message.length + places.length);
  let from = 0;
  let to = 0;
  for (const place of places) {
    to += message.copy(stuffed, to, from, place);
    stuffed[to++] = DOT;
    from = place;
  }
  message.copy(stuffed, to, from);
  return stuffed;
}
