/** Where a feed may not be: within the network of the service. */
import t from 'tap';
import { fetchFeed, NO_VERSION } from '../../src/feeds/fetch-feed.ts';
import { startApp } from '../support/app.ts';

t.test('an address within the network is refused, given or redirected to, and so is plain http', async (t) => {
  const app = await startApp(t);
  const save = async (url: string) => (await app.one.call('POST', '/feeds/save', { form: { url } })).body.errors;
  t.match(await save('https://169.254.169.254/feed'), {
    url: ['The address is not public. Private addresses need the setting WEBHOOK_PRIVATE_ADDRESSES=allow.'],
  });
  t.match(await save('https://localhost/feed'), { url: [/not public/] });
  t.match(await save('http://example.com/feed'), { url: [/must begin with https/] });
  t.match(await save('file:///etc/passwd'), { url: [/^Give the address of a feed/] });
  t.match(await save('https://a:b@example.com/'), { url: [/user name/] });
  const found = await fetchFeed('https://127.0.0.1:1/', NO_VERSION, { allowPrivate: false });
  t.match(found, { kind: 'failed', reason: /not public/ });
});
