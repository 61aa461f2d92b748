/** The finished answer with all places: what the tables hold, in each coding, with an ETag. */
import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import t from 'tap';
import { type PlacesCoding, placesBody, placesEtag } from '../../src/audience/places/body.ts';
import { seedPlaces } from '../../src/database/place-data.ts';
import { emptyTables, placesAnswer } from '../support/places.ts';

const client = emptyTables();
seedPlaces(client);
const answer = placesAnswer(client);

t.test('the answer', async (t) => {
  const unpackers: Record<PlacesCoding, (sent: Buffer) => Buffer> = {
    identity: (sent) => sent,
    gzip: gunzipSync,
    br: brotliDecompressSync,
  };
  const sentIn = async (coding: PlacesCoding): Promise<Buffer> => {
    const { content } = placesBody(coding);
    return Buffer.isBuffer(content) ? content : buffer(content);
  };

  for (const coding of ['identity', 'gzip', 'br'] as const) {
    t.test(`in ${coding} is what the tables hold, byte for byte, and as long as it says`, async (t) => {
      const { length, etag } = placesBody(coding);
      const sent = await sentIn(coding);
      t.equal(sent.length, length);
      t.equal(etag, placesEtag(coding));
      t.ok(unpackers[coding](sent).toString() === answer);
    });
  }

  t.test('has a strong ETag made from its content, another one per coding', async (t) => {
    const hash = createHash('sha256').update(answer).digest('hex').slice(0, 32);
    t.strictSame((['identity', 'gzip', 'br'] as const).map(placesEtag), [
      `"${hash}"`,
      `"${hash}-gzip"`,
      `"${hash}-br"`,
    ]);
  });

  t.test('can be read several times at once', async (t) => {
    const bodies = await Promise.all([sentIn('identity'), sentIn('identity')]);
    t.ok(bodies.every((body) => body.toString() === answer));
  });
});
