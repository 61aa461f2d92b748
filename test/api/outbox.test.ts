/** The built-in outbox as an owner looks at it. */
import PostalMime from 'postal-mime';
import t from 'tap';
import { startApp } from '../support/app.ts';
import { sendCampaign } from '../support/campaign.ts';
import { addPerson, callerOf } from '../support/people.ts';

t.test('the outbox shows names and subjects as people read them, and the mail in a browser', async (t) => {
  const app = await startApp(t);
  await sendCampaign(t, app, {
    people: [
      { email: 'zoe@example.com', first_name: 'Zoë “the owl”, of the forest behind the very long valley of Müller' },
    ],
    html: '<p>Hello ((first_name))</p>',
  });
  const { body: list } = await app.one.call('GET', '/outbox/list');
  const mail = list.message.mails.at(-1);
  t.match(mail, {
    envelope_to: 'zoe@example.com',
    from: 'Lark Books <hello@example.com>',
    to: /^Zoë “the owl”, of the forest behind the very long valley of Müller .*<zoe@example\.com>$/,
    subject: 'For Zoë “the owl”, of the forest behind the very long valley of Müller',
  });
  const { body } = await app.one.call('GET', '/outbox/details', { query: { id: mail.id } });
  t.match(body.message.mail.raw, /^Subject: =\?utf-8\?/im, 'the mail itself is as it would have left');
  const { pathname } = new URL(body.message.mail.web_copy);
  const { status, text } = await app.page('GET', pathname);
  t.equal(status, 200);
  t.match(text, 'Hello Zoë “the owl”');
  t.equal((await app.two.call('GET', '/outbox/details', { query: { id: mail.id } })).status, 404);
});

t.test('the outbox can be read from its newest mail, page by page, and searched', async (t) => {
  const app = await startApp(t);
  await sendCampaign(t, app, { people: ['a', 'b', 'c'].map((name) => ({ email: `${name}@example.org` })) });
  const list = async (query: Record<string, unknown>) =>
    (await app.one.call('GET', '/outbox/list', { query })).body.message.mails.map(
      (mail: { envelope_to: string }) => mail.envelope_to,
    );
  t.strictSame(await list({ order: 'newest', limit: 2 }), ['c@example.org', 'b@example.org']);
  const { id } = (await app.one.call('GET', '/outbox/list', { query: { search: 'B@EXAMPLE' } })).body.message.mails[0];
  t.strictSame((await list({ order: 'newest', before_id: id }))[0], 'a@example.org');
  t.strictSame(await list({ search: 'nobody' }), []);
});

/** Every token in a mail that acts for its recipient, wherever lines of transport are broken. */
const tokensIn = (raw: string) =>
  raw
    .replaceAll('=\r\n', '')
    .replaceAll('=2E', '.')
    .match(/[\w-]+\.[\w-]{22}(?![\w-])/g) ?? [];

t.test(
  'a user who only looks gets mails whose links act for nobody; keys and editors get them as they left',
  async (t) => {
    const app = await startApp(t, { BOUNCE_DOMAIN: 'bounces.example.com' });
    // A preheader of each length puts the line breaks at another place within the tokens.
    const lengths = Array.from({ length: 75 }, (_, at) => at + 1);
    const people = lengths.map((length) => ({ email: `p${length}@example.org`, first_name: 'x'.repeat(length) }));
    await sendCampaign(t, app, { people });
    const viewer = callerOf(app, addPerson(app, 'viewer'));
    const editor = callerOf(app, addPerson(app, 'editor'));
    const listed = (await viewer.call('GET', '/outbox/list', { query: { order: 'newest', limit: 100 } })).body.message
      .mails;
    t.equal(listed.length, 76, 'with the mail that verifies the sender');
    for (const { id, envelope_from } of listed) {
      const read = async (caller: typeof viewer) =>
        (await caller.call('GET', '/outbox/details', { query: { id } })).body.message.mail;
      const whole = await read(app.one);
      const isCampaign = whole.subject.startsWith('For x');
      t.ok(tokensIn(whole.raw).length >= (isCampaign ? 4 : 1), 'there is something to hide');
      if (!isCampaign) {
        t.strictSame(tokensIn((await read(viewer)).raw), []);
        continue;
      }
      t.match(whole.envelope_from, /^bounce\+\w+\.\w{16}@bounces\.example\.com$/);
      const hidden = await read(viewer);
      t.strictSame(tokensIn(hidden.raw), [], `mail ${id}`);
      t.match(hidden, { web_copy: null, envelope_from: 'bounce+hidden@bounces.example.com', subject: whole.subject });
      t.equal(envelope_from, 'bounce+hidden@bounces.example.com');
      if (id === listed[0].id) t.strictSame(await read(editor), whole);
    }
  },
);

t.test('a mail without tokens reads as before', async (t) => {
  const app = await startApp(t);
  await sendCampaign(t, app, {
    html: '<p>Zoë and ((first_name)) = love, <a href="https://shop.example/u/new.html">news</a></p>',
  });
  const { mails } = (await app.one.call('GET', '/outbox/list')).body.message;
  const raw = async (caller: typeof app.one) =>
    (await caller.call('GET', '/outbox/details', { query: { id: mails.at(-1).id } })).body.message.mail.raw;
  const [whole, hidden] = await Promise.all(
    [app.one, callerOf(app, addPerson(app, 'viewer'))].map(async (caller) => PostalMime.parse(await raw(caller))),
  );
  t.equal(hidden?.subject, whole?.subject);
  const pattern = /\/(u|o|c|w)\/[^")\s]+/g;
  for (const part of ['html', 'text'] as const) {
    t.equal(hidden?.[part]?.replaceAll(pattern, ''), whole?.[part]?.replaceAll(pattern, ''));
  }
});
