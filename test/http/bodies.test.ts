/** Bodies that are refused before they are read or built. */
import t, { type Test } from 'tap';
import Type from 'typebox';
import { normalize } from '../../src/http/requests/normalize.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { sendCampaign } from '../support/campaign.ts';
import { head, listening, MIB, URLENCODED } from './open-connections.ts';

t.test('a plain-text body is refused with 415', async (t) => {
  const { one } = await startApp(t);
  const headers = { 'content-type': 'text/plain' };
  for (const path of ['/contacts-type/add', '/contacts/upload-csv', '/single/send/create']) {
    const { status, body } = await one.call('POST', path, { form: { name: 'Readers' }, headers });
    t.equal(status, 415, path);
    t.strictSame(body, { status: 'failed', errors: 'Unsupported Media Type' });
  }
});

/** Small texts that would make many objects. */
const EXCESSIVE: [what: string, type: string, body: string][] = [
  ['pairs', URLENCODED, Array.from({ length: 20_001 }, (_, at) => `f${at}`).join('&')],
  ['members', 'application/json', `{${Array.from({ length: 50_001 }, (_, at) => `"${at}":0`).join()}}`],
  ['items', 'application/json', `{"strIds":[${'0,'.repeat(60_000)}0]}`],
  ['levels', 'application/json', `{"name":${'['.repeat(40)}${']'.repeat(40)}}`],
  ['objects', 'application/json', `{"name":[${'{},'.repeat(40_000)}{}]}`],
];

t.test('more pairs, members or levels than any form has are refused before they are built', async (t) => {
  const { fastify, one } = await startApp(t);
  for (const [what, type, payload] of EXCESSIVE) {
    const headers = { ...one.headers, 'content-type': type };
    const response = await fastify.inject({ method: 'POST', url: '/api/contacts-type/add', headers, payload });
    t.equal(response.statusCode, 413, what);
    t.strictSame(response.json(), { status: 'failed', errors: 'Payload Too Large' }, what);
  }
  const text = `"${'[{,'.repeat(50_000)}\\"${'[{,'.repeat(50_000)}\\\\`;
  const headers = { ...one.headers, 'content-type': 'application/json' };
  const payload = `{"name":"Readers","other":${text}"}`;
  const within = await fastify.inject({ method: 'POST', url: '/api/contacts-type/add', headers, payload });
  t.equal(within.statusCode, 200, 'what stands in a text counts for nothing');
});

t.test('pages take 64 KiB and a few thousand fields', async (t) => {
  const { app } = await listening(t);
  const { u } = await campaignLink(t, app);
  const tooLong = await app.page('POST', u, { form: { form: 'groups', shown: 'x'.repeat(65 * 1024) } });
  t.equal(tooLong.status, 413);
  const many = Array.from({ length: 5001 }, (): [string, string] => ['on', '1']);
  t.equal((await app.page('POST', u, { form: many })).status, 413);
  t.equal(app.db.prepare('SELECT count(*) FROM unsubscribers').pluck().get(), 0);
});

t.test('a design link that does not work reads no body', async (t) => {
  const { open } = await listening(t);
  for (const path of ['/design/x', '/design/x/preview', '/design/x/test']) {
    const connection = await open();
    connection.send(head(path, { 'Content-Type': 'application/json', 'Content-Length': 4 * MIB }));
    t.match(await connection.got(/\}\n$/), /^HTTP\/1\.1 404 /, path);
  }
});

async function campaignLink(t: Test, app: TestApp): Promise<{ u: string }> {
  const { mails } = await sendCampaign(t, app);
  return { u: mails[0]?.paths.u ?? '' };
}

t.test('a parameter that a page gives as undefined is absent, not empty', async (t) => {
  const schema = Type.Object({ name: Type.String(), note: Type.Optional(Type.String()) });
  t.strictSame({ ...normalize(schema, { name: undefined, note: undefined }) }, {});
  t.strictSame({ ...normalize(schema, { name: 'Ann', note: null }) }, { name: 'Ann', note: '' });
});
