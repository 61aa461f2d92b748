/** The reference data as clients fetch it. */
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import t from 'tap';
import { startApp } from '../support/app.ts';

t.test('one answer in every coding, with an ETag that spares the second fetch', async (t) => {
  const app = await startApp(t);
  const fetch = (headers: Record<string, string>) =>
    app.fastify.inject({
      method: 'GET',
      url: '/api/get/country-state-city',
      headers: { ...app.one.headers, ...headers },
    });
  const plain = await fetch({});
  const { message } = plain.json();
  t.match(message.countries[0], { id: 1, name: 'Afghanistan', iso2: 'AF' });
  t.equal(message.countries.length, 250);
  t.ok(message.cities.length > 100_000);
  const br = await fetch({ 'accept-encoding': 'gzip, br' });
  t.equal(br.headers['content-encoding'], 'br');
  t.equal(brotliDecompressSync(br.rawPayload).toString(), plain.payload);
  const gzip = await fetch({ 'accept-encoding': 'br;q=0, gzip;q=0.5' });
  t.equal(gzip.headers['content-encoding'], 'gzip');
  t.equal(gunzipSync(gzip.rawPayload).toString(), plain.payload);
  t.not(br.headers.etag, gzip.headers.etag, 'an ETag is of one coding');
  const again = await fetch({ 'accept-encoding': 'br', 'if-none-match': `W/${br.headers.etag}` });
  t.equal(again.statusCode, 304);
  t.equal(again.payload, '');
  t.equal((await app.anonymous.call('GET', '/get/country-state-city')).status, 401, 'keys come first here too');
});
