/** The picture library in the dashboard. */
import t from 'tap';
import { type CallOptions, startApp } from '../../support/app.ts';
import { sendCampaign } from '../../support/campaign.ts';
import { GIF, png, uploadPicture } from '../../support/pictures.ts';
import { visitor } from '../../support/visitor.ts';

/** Pictures as the form of the library sends them. */
const file = (content: Buffer | string): CallOptions => ({
  multipart: [['file', { filename: 'Harbour.png', content }]],
});

t.test('a picture is added with the form alone, and the reason is shown where it is not', async (t) => {
  const app = await startApp(t);
  const { open, post } = visitor(app);
  t.match((await open('/images')).text, 'No images yet');
  const added = await post('/images', file(png(31, 7)));
  t.strictSame([added.status, added.headers.location], [303, '/images']);
  const { text } = await open('/images');
  t.match(text, /<img src="\/pictures\/[0-9a-f]{32}\/harbour\.png"/);
  t.match(text, '31 × 7');
  t.match(text, 'Not used');
  const refused = await post('/images', file('<svg/>'));
  t.equal(refused.status, 422);
  t.match(refused.text, /id="file-problem">The file is an SVG/);
  t.match(
    (await visitor(app, 'owner', { language: 'de' }).post('/images', file('<svg/>'))).text,
    /Die Datei ist ein SVG/,
  );
  t.match((await open('/images?search=nothing')).text, 'No image matches.');
});

t.test('the script is told what came of each file in the reader’s language', async (t) => {
  const app = await startApp(t);
  const { post } = visitor(app, 'owner', { language: 'de' });
  t.strictSame((await post('/images/add', file(GIF))).body, { problem: null, note: null });
  t.match((await post('/images/add', file(GIF))).body, { problem: null, note: 'gibt es in der Bibliothek schon' });
  t.match((await post('/images/add', file(GIF.subarray(0, -1)))).body, { problem: 'unvollständig' });
});

t.test('the library is paged, newest first', async (t) => {
  const app = await startApp(t);
  const { open } = visitor(app);
  for (let width = 1; width <= 25; width++) await uploadPicture(app.one, png(width, 1), `Picture ${width}.png`);
  const { text } = await open('/images');
  t.match(text, /Picture 25<.*Picture 2</s);
  t.notMatch(text, 'Picture 1<');
  t.match((await open('/images?before=2')).text, 'Picture 1<');
});

t.test('a picture is named, described and deleted while nothing uses it', async (t) => {
  const app = await startApp(t);
  const { open, send } = visitor(app);
  const { id, url } = await uploadPicture(app.one);
  const path = `/images/${id}`;
  const refused = await send(path, { name: '', alt: 'Books' });
  t.equal(refused.status, 422);
  t.match(refused.text, /id="name-problem">This is required\./);
  t.match(refused.text, 'value="Books"', 'what was typed is kept');
  t.equal((await send(path, { name: '<Sale>', alt: 'Books' })).status, 303);
  const { text } = await open(path);
  t.match(text, '&lt;Sale>');
  t.match(text, 'alt="Books"');
  t.match(text, `value="${url}"`);
  t.match(text, 'Delete this image?');
  t.equal((await visitor(app, 'owner', { accountId: 2 }).open(path)).status, 404);
  t.equal((await send(`${path}/delete`)).status, 303);
  t.equal((await open(path)).status, 404);
});

t.test('a picture that was sent says where, and why it stays', async (t) => {
  const app = await startApp(t);
  const { open, send } = visitor(app);
  const { id, url } = await uploadPicture(app.one);
  const { utr } = await sendCampaign(t, app, { html: `<p>Hello</p><img src="${url}">` });
  const { text } = await open(`/images/${id}`);
  t.match(text, `href="/campaigns/${utr}"`);
  t.match(text, 'sent on ');
  t.match(text, 'even if you delete the campaign');
  t.notMatch(text, 'Delete this image?');
  const refused = await send(`/images/${id}/delete`);
  t.equal(refused.status, 409);
  t.match(refused.text, 'The image is in a campaign that was sent');
  t.match((await open('/images')).text, 'In 1 campaign · Sent 1 time');
});

t.test('a viewer looks at pictures and changes none', async (t) => {
  const app = await startApp(t);
  const { open, send, post } = visitor(app, 'viewer');
  const { id } = await uploadPicture(app.one);
  t.notMatch((await open('/images')).text, '<form method="post" action="/images"');
  t.notMatch((await open(`/images/${id}`)).text, `action="/images/${id}`);
  for (const answer of [
    await post('/images', file(GIF)),
    await send(`/images/${id}`, { name: 'x' }),
    await send(`/images/${id}/delete`),
  ])
    t.equal(answer.status, 403);
});
