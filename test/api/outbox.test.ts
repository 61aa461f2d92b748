/** The built-in outbox as an owner looks at it. */
import t from 'tap';
import { startApp } from '../support/app.ts';
import { sendCampaign } from '../support/campaign.ts';

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
