/** Where pictures are used: kept with the content, and what they are kept for. */
import type { Test } from 'tap';
import t from 'tap';
import { purge } from '../../../src/database/purge.ts';
import { buildWorld } from '../../support/account-records.ts';
import { type Caller, startApp, type TestApp } from '../../support/app.ts';
import { mustSucceed, sendCampaign } from '../../support/campaign.ts';
import { GIF, type Picture, uploadPicture } from '../../support/pictures.ts';

const imageOf = ({ url }: Picture) => `<p>Hello</p><img src="${url}" alt="">`;

async function countsOf(caller: Caller, { id }: Picture) {
  const { single_sends, automation_mails, sent_mails } = (
    await caller.call('GET', '/pictures/details', { query: { id } })
  ).body.message.picture as Picture;
  return [single_sends, automation_mails, sent_mails];
}

async function usesOf(caller: Caller, { id }: Picture) {
  return (await caller.call('GET', '/pictures/uses', { query: { id } })).body.message.uses;
}

const remove = (caller: Caller, { id }: Picture) => caller.call('POST', '/pictures/delete', { form: { id } });
const isServed = async (app: TestApp, { url }: Picture) =>
  (await app.fastify.inject(new URL(url).pathname)).statusCode === 200;

/** A single send of an account that is scheduled for much later, with this content. */
async function schedule(t: Test, caller: Caller, content: Record<string, unknown>, utr?: string): Promise<string> {
  const world = { template_id: 1, sender_id: 1, unsubscribe_group_id: 1, recipient_id: ['contacts_1'] };
  const form = { ...world, single_send_name: 'Winter', subject: 'Winter is here', preheader: 'Warm', ...content };
  const when = { schedule_type: 1, schedule_date: '2030-01-31', schedule_time: '09:30' };
  const path = utr === undefined ? '/single/send/create' : '/single/send/update';
  const message = (await mustSucceed(t, caller)(path, { ...form, ...when, utr })) as { utr: string };
  return utr ?? message.utr;
}

t.test('a single send uses the pictures of its present content, however their addresses are written', async (t) => {
  const app = await startApp(t);
  await buildWorld(app.one);
  const [one, two] = [await uploadPicture(app.one), await uploadPicture(app.one, GIF)];
  const utr = await schedule(t, app.one, { template_html: imageOf(one) });
  t.strictSame(await countsOf(app.one, one), [1, 0, 0]);
  t.match(await usesOf(app.one, one), [
    { kind: 'single_send', utr, name: 'Winter', subject: 'Winter is here', sent_at: null },
  ]);
  const refused = await remove(app.one, one);
  t.strictSame(
    [refused.status, refused.body.errors],
    [409, 'The image is used in a campaign, an e-mail of an automation or a template: remove it there first'],
  );

  await schedule(t, app.one, { template_html: imageOf(two).replaceAll('/', '&#47;') }, utr);
  t.strictSame(
    [await countsOf(app.one, one), await countsOf(app.one, two)],
    [
      [0, 0, 0],
      [1, 0, 0],
    ],
  );
  const mjml = JSON.stringify({
    tagName: 'mjml',
    children: [
      {
        tagName: 'mj-body',
        children: [
          {
            tagName: 'mj-section',
            children: [{ tagName: 'mj-column', children: [{ tagName: 'mj-image', attributes: { src: one.url } }] }],
          },
        ],
      },
    ],
  }).replaceAll('/', '\\/');
  await schedule(t, app.one, { template_json: mjml }, utr);
  t.strictSame(
    [await countsOf(app.one, one), await countsOf(app.one, two)],
    [
      [1, 0, 0],
      [0, 0, 0],
    ],
  );
  await app.one.call('GET', '/single/send/duplicate', { query: { utr } });
  t.strictSame(await countsOf(app.one, one), [2, 0, 0], 'a copy uses it too');
  t.match((await remove(app.one, one)).body.errors, /2 campaigns/);
  t.equal((await remove(app.one, two)).status, 200, 'what nothing uses any more can go');
});

t.test('a picture whose address another account writes into its mails is not kept for that', async (t) => {
  const app = await startApp(t);
  const picture = await uploadPicture(app.one);
  await buildWorld(app.two);
  const { senders } = (await app.two.call('GET', '/senders')).body.message;
  await mustSucceed(t, app.two)('/single/send/create', {
    ...{ template_id: 1, template_html: imageOf(picture), sender_id: senders[0].id, unsubscribe_group_id: 1 },
    ...{ single_send_name: 'W', subject: 'W', preheader: 'W', recipient_id: ['contacts_1'] },
    ...{ schedule_type: 1, schedule_date: '2030-01-31', schedule_time: '09:30' },
  });
  t.strictSame(await countsOf(app.one, picture), [0, 0, 0]);
  t.equal((await remove(app.one, picture)).status, 200);
});

t.test('the mails of an automation use pictures until they, or the automation, are deleted', async (t) => {
  const app = await startApp(t);
  const { automations, senders } = await buildWorld(app.one);
  const [utr] = automations;
  const picture = await uploadPicture(app.one);
  const must = mustSucceed(t, app.one);
  const mail = {
    ...{ utr, sender_id: senders[0], subject: 'Lesson', waiting_period: 1, waiting_type: 'days' },
    ...{ template_id: 1, preview_img: 'blank.png', template_html: imageOf(picture) },
  };
  await must('/automations/schedule/create', mail);
  await must('/automations/schedule/create', mail);
  t.strictSame(await countsOf(app.one, picture), [0, 2, 0]);
  t.match(await usesOf(app.one, picture), [
    { kind: 'automation_mail', campaign: 'automation', utr, name: 'Course', subject: 'Lesson' },
    {},
  ]);
  t.match((await remove(app.one, picture)).body.errors, /2 campaigns, e-mails of automations and templates/);
  const { automation_schedules: mails } = (await app.one.call('GET', '/automations/schedule', { query: { utr } })).body
    .message;
  await app.one.call('DELETE', '/automations/schedule/delete', { query: { utr: mails.at(-1).utr } });
  t.strictSame(await countsOf(app.one, picture), [0, 1, 0]);
  const { id } = (await app.one.call('GET', '/automations')).body.message.automations[0];
  const gone = await app.one.call('POST', '/automations/bulk-delete', { form: { strIds: [id] } });
  t.equal(gone.status, 200, gone.text);
  t.strictSame(await countsOf(app.one, picture), [0, 0, 0]);
  await purge(app.db, () => undefined);
  const removed = await remove(app.one, picture);
  t.equal(removed.status, 200, removed.text);
});

t.test('a picture that was sent stays served and cannot be deleted, even when its single send is', async (t) => {
  const app = await startApp(t);
  const picture = await uploadPicture(app.one);
  const { utr, mails } = await sendCampaign(t, app, { html: imageOf(picture) });
  t.match(mails[0]?.html, picture.url);
  t.strictSame(await countsOf(app.one, picture), [1, 0, 1]);
  t.match(await usesOf(app.one, picture), [
    { kind: 'single_send', utr },
    { kind: 'sent_mail', campaign: 'single_send', utr, name: 'News', subject: 'For ((first_name))', sent_at: /^2026-/ },
  ]);
  const gone = await app.one.call('POST', '/single/send/bulk-delete', { form: { strIds: [utr] } });
  t.equal(gone.status, 200, gone.text);
  t.strictSame(await countsOf(app.one, picture), [0, 0, 1]);
  t.match(await usesOf(app.one, picture), [
    { kind: 'sent_mail', campaign: null, utr: null, name: null, subject: 'For ((first_name))' },
  ]);
  await purge(app.db, () => undefined);
  const refused = await remove(app.one, picture);
  t.equal(refused.status, 409);
  t.match(refused.body.errors, /in a campaign that was sent. The image stays for the recipients/);
  t.ok(await isServed(app, picture));
});

t.test('a test mail does not keep a picture', async (t) => {
  const app = await startApp(t);
  await buildWorld(app.one);
  const picture = await uploadPicture(app.one);
  const utr = await schedule(t, app.one, { template_html: imageOf(picture) });
  await mustSucceed(t, app.one)('/single/send/test', { utr, email_address: 'tester@example.net' });
  await app.background();
  t.strictSame(await countsOf(app.one, picture), [1, 0, 0]);
});
