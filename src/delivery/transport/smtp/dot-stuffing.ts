/** Transparency: a line of the message must not look like the dot that ends it (RFC 5321 4.5.2). */

const LINE_THEN_DOT = Buffer.from('\n.');
const DOT = 0x2e;

/**
 * The message with a second dot before every dot that starts a line; the same Buffer where there is none. A bare LF
 * counts as a line end, so that a relay which reads it as one finds no end of message either.
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
