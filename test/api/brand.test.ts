/** The brand of an account, and the blocks that it keeps. */
import t from 'tap';
import { purge } from '../../src/database/purge.ts';
import { type Caller, startApp } from '../support/app.ts';
import { addPerson, callerOf } from '../support/people.ts';
import { uploadPicture } from '../support/pictures.ts';

const BRAND = {
  colours: ['#1D5B46', '', '#efebe2'],
  text_font: 'Verdana',
  heading_font: 'Georgia',
  button_shape: 'pill',
};
const blockWith = (content: string) =>
  JSON.stringify({
    tagName: 'mjml',
    attributes: {},
    children: [{ tagName: 'mj-body', attributes: {}, children: [{ tagName: 'mj-raw', attributes: {}, content }] }],
  });

const brandOf = async (caller: Caller) => (await caller.call('GET', '/brand')).body.message.brand;

t.test('the brand is saved for the account alone, by owners and editors, and is in the log', async (t) => {
  const app = await startApp(t);
  const picture = await uploadPicture(app.one);
  t.match(await brandOf(app.one), { logo_url: null, colours: [], text_font: 'Arial', updated_at: null });
  const [editor, viewer] = [callerOf(app, addPerson(app, 'editor')), callerOf(app, addPerson(app, 'viewer'))];
  t.equal((await viewer.call('POST', '/brand/save', { form: BRAND })).status, 403);
  t.equal((await editor.call('POST', '/brand/save', { form: { ...BRAND, logo_picture_id: picture.id } })).status, 200);
  const saved = { logo_picture_id: picture.id, logo_url: picture.url, colours: ['#1d5b46', '#efebe2'] };
  t.match(await brandOf(viewer), { ...BRAND, ...saved });
  t.match(await brandOf(app.two), { logo_url: null, colours: [] });
  t.match(app.db.prepare('SELECT action FROM audit_log ORDER BY id DESC').pluck().get(), 'brand_changed');
  const refused = (form: object) => app.one.call('POST', '/brand/save', { form: { ...BRAND, ...form } });
  t.match((await refused({ colours: ['red'] })).body.errors, {
    colours: ['red is not a colour. Enter one such as #1d5b46.'],
  });
  t.match((await refused({ colours: Array(7).fill('#123456') })).body.errors, { colours: [/6/] });
  t.match((await refused({ text_font: 'Papyrus' })).body.errors, { text_font: [/./] });
  t.match(
    (await app.two.call('POST', '/brand/save', { form: { ...BRAND, logo_picture_id: picture.id } })).body.errors,
    {
      logo_picture_id: [/./],
    },
  );
});

t.test('a picture that is the logo or in a saved block is not deleted, and says where it is', async (t) => {
  const app = await startApp(t);
  const picture = await uploadPicture(app.one);
  const remove = async () => (await app.one.call('POST', '/pictures/delete', { form: { id: picture.id } })).body;
  const counts = () => app.db.prepare('SELECT blocks, brands FROM pictures').get();
  const logo = (logo_picture_id: number) =>
    app.one.call('POST', '/brand/save', { form: { ...BRAND, logo_picture_id } });
  await logo(picture.id);
  const form = { block_name: 'Boat', json_code: blockWith(`<img src="${picture.url}">`) };
  const { id } = (await app.one.call('POST', '/blocks/create', { form })).body.message;
  t.strictSame(counts(), { blocks: 1, brands: 1 });
  const { uses } = (await app.one.call('GET', '/pictures/uses', { query: { id: picture.id } })).body.message;
  t.match(uses, [
    { kind: 'brand', name: null },
    { kind: 'block', name: 'Boat' },
  ]);
  t.match((await remove()).errors, /The image is your logo/);
  await logo(0);
  t.match((await remove()).errors, /in a saved block/);
  await app.one.call('POST', '/blocks/update', { form: { id, json_code: blockWith('none') } });
  t.strictSame(counts(), { blocks: 0, brands: 0 });
  await app.one.call('POST', '/blocks/update', { form: { id, json_code: form.json_code } });
  t.match((await remove()).errors, /in a saved block/);
  await app.one.call('POST', '/blocks/delete', { form: { id } });
  t.equal((await remove()).status, 'success');
});

t.test('blocks are kept, listed, renamed and deleted by their account, up to a number and a size', async (t) => {
  const app = await startApp(t);
  const create = (form: Record<string, unknown>) => app.one.call('POST', '/blocks/create', { form });
  const { id } = (await create({ block_name: 'Footer', json_code: blockWith('Bye') })).body.message;
  const list = async (by = app.one) => (await by.call('GET', '/blocks')).body.message.blocks;
  t.match(await list(), [{ id, block_name: 'Footer' }]);
  t.notOk('json_code' in (await list())[0]);
  t.strictSame(await list(app.two), []);
  for (const [method, path] of [
    ['GET', '/blocks/details'],
    ['POST', '/blocks/update'],
    ['POST', '/blocks/delete'],
    ['POST', '/blocks/undelete'],
  ] as const) {
    const given = method === 'GET' ? { query: { id } } : { form: { id, block_name: 'Theirs' } };
    t.equal((await app.two.call(method, path, given)).status, 404, path);
  }
  await app.one.call('POST', '/blocks/update', { form: { id, block_name: 'End' } });
  const { block } = (await app.one.call('GET', '/blocks/details', { query: { id } })).body.message;
  t.match(block, { block_name: 'End', json_code: blockWith('Bye') });
  t.match((await create({ block_name: '', json_code: blockWith('x') })).body.errors, { block_name: [/./] });
  t.match((await create({ block_name: 'x', json_code: '{}' })).body.errors, { json_code: [/not an MJML document/] });
  const large = blockWith('x'.repeat(200 * 1024));
  t.match((await create({ block_name: 'x', json_code: large })).body.errors, { json_code: [/204800/] });
  const insert = app.db.prepare(
    "INSERT INTO saved_blocks (user_id, block_name, json_code, size, created_at, updated_at) VALUES (1, 'x', '', ?, '', '')",
  );
  insert.run(10 * 1024 * 1024);
  t.match((await create({ block_name: 'x', json_code: blockWith('x') })).body, { errors: /10 MB/ });
  app.db.exec("DELETE FROM saved_blocks WHERE block_name = 'x'");
  for (let count = 1; count < 100; count++) insert.run(1);
  const full = await create({ block_name: 'x', json_code: blockWith('x') });
  t.match([full.status, full.body.errors], [409, /100 blocks/]);
});

t.test('the block that was deleted last comes back, if there is room and nothing was purged since', async (t) => {
  const app = await startApp(t);
  const post = (path: string, form: Record<string, unknown>) => app.one.call('POST', `/blocks/${path}`, { form });
  const add = async (name: string): Promise<number> =>
    (await post('create', { block_name: name, json_code: blockWith(name) })).body.message.id;
  const [first, last] = [await add('First'), await add('Last')];
  for (const id of [first, last]) await post('delete', { id });
  t.equal((await post('undelete', { id: first })).status, 404, 'another one was deleted since');
  const insert = app.db.prepare(
    "INSERT INTO saved_blocks (user_id, block_name, json_code, size, created_at, updated_at) VALUES (1, 'x', '', 1, '', '')",
  );
  for (let count = 0; count < 100; count++) insert.run();
  t.equal((await post('undelete', { id: last })).status, 409, 'there is no room');
  app.db.exec("DELETE FROM saved_blocks WHERE block_name = 'x'");
  t.equal((await post('undelete', { id: last })).status, 200);
  const { block } = (await app.one.call('GET', '/blocks/details', { query: { id: last } })).body.message;
  t.match(block, { block_name: 'Last', json_code: blockWith('Last') });
  await post('delete', { id: last });
  await purge(app.db, () => undefined);
  t.equal((await post('undelete', { id: last })).status, 404, 'it was purged');
});
