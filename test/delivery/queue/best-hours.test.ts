/** Single sends that each contact gets at the hour at which they usually read. */
import t, { type Test } from 'tap';
import { HitBuffer } from '../../../src/delivery/feedback/opens-and-clicks.ts';
import { fractionFor } from '../../../src/delivery/queue/variant-groups.ts';
import { differenceInterval } from '../../../src/delivery/variants/statistics.ts';
import type { TestApp } from '../../support/app.ts';
import { HOUR, mailsInBrief } from '../../support/automations.ts';
import { sendAgain, sentCampaign } from '../../support/recipient-links.ts';
import { sendReport } from '../../support/single-sends.ts';

const EARLY = 10;
const LATE = 25;
const names = (kind: string, count: number) => Array.from({ length: count }, (_, at) => `${kind}${at}`);

/** The newest mail of a contact: its ids, as links of it have them. */
function mailOf({ db }: TestApp, name: string) {
  return db
    .prepare<[string], { delivery: number; mailing: number; address: number }>(`
      SELECT d.id AS delivery, d.mailing_id AS mailing, d.address_id AS address FROM deliveries d JOIN addresses a ON a.id = d.address_id
        JOIN mailings m ON m.id = d.mailing_id AND m.owner_kind = 'single' WHERE a.normalized_email = ? ORDER BY d.id DESC`)
    .get(`${name}@example.org`) as { delivery: number; mailing: number; address: number };
}

/** A person clicks in their newest mail, or opens it, at these times. */
function read(app: TestApp, name: string, times: readonly number[], link: number | null = 1): void {
  const hits = new HitBuffer(app.db);
  for (const at of times) {
    hits.add({ ids: { ...mailOf(app, name), group: 1, user: 1, email: '' }, at, link, reader: 'person' });
    while (hits.flush(at));
  }
}

/** A campaign of 15 January 2026, 9:00, that ten read at 6:00 on three days, 25 at 20:00, one within an hour, and one never. */
async function readAtTheirHours(t: Test) {
  const all = [...names('early', EARLY), ...names('late', LATE), 'hasty', 'quiet'];
  const { app, utr } = await sentCampaign(t, {}, { people: all.map((email) => ({ email: `${email}@example.org` })) });
  const days = (hour: number) => [16, 17, 18].map((day) => Date.UTC(2026, 0, day, hour, 30));
  read(app, 'hasty', [app.clock.now().getTime() + HOUR / 4], null);
  for (const name of names('early', EARLY)) read(app, name, days(6), null);
  for (const name of names('late', LATE)) read(app, name, days(20), null);
  await until(app, '2026-01-20T08:00');
  const book = (more: Record<string, unknown> = {}) =>
    sendAgain(t, app, utr, {
      ...{ subject: 'Again', schedule_type: 1, schedule_date: '2026-01-20', schedule_time: '09:00', best_hour: 1 },
      ...more,
    });
  return { app, utr, all, book };
}

/** Returns what the API says about the time of a contact's mail. */
async function timeRule(app: TestApp, utr: string, name: string) {
  const query = { utr, email: `${name}@example.org` };
  const { why } = (await app.one.call('GET', '/single-send/why', { query })).body.message;
  return why.rules.find(({ rule }: { rule: string }) => rule === 'local_time');
}

async function until(app: TestApp, time: string): Promise<void> {
  const end = Date.parse(`${time}Z`);
  while (app.clock.now().getTime() < end) {
    app.clock.advance(Math.min(HOUR / 2, end - app.clock.now().getTime()));
    await app.background();
  }
}

t.test(
  'each contact gets it when they usually read, who is not known at the usual hour, and one in ten at once',
  async (t) => {
    const { app, all, book } = await readAtTheirHours(t);
    const utr = await book();
    const { best_hours } = (await app.one.call('GET', '/single-send/best-hours', { query: { utr } })).body.message;
    t.strictSame(best_hours, {
      ...{ looked_at: 37, with_evidence: 36, time_zone: 'UTC' },
      hours: [
        { hour: 20, count: 27 },
        { hour: 6, count: 10 },
      ],
    });
    t.match(await timeRule(app, utr, 'early1'), { is_met: 0, value: /^The best hour of the contact, within 24 hours/ });
    await until(app, '2026-01-20T09:30');
    const heldOut = all.filter((name) => fractionFor(mailOf(app, name).address, utr) < 0.1);
    t.match((await sendReport(app, utr)).local_wait, { people: all.length - heldOut.length });
    const [chosen = ''] = names('early', EARLY).filter((name) => !heldOut.includes(name));
    t.match(await timeRule(app, utr, chosen), { is_met: 0, value: /2026-01-21 06:00/ });
    await until(app, '2026-01-21T09:00');
    t.match(await timeRule(app, utr, chosen), { is_met: 1, value: 'The scheduled time of the contact has passed.' });
    const due = (name: string) => {
      if (heldOut.includes(name)) return '01-20T09:00';
      return name.startsWith('early') ? '01-21T06:00' : '01-20T20:00';
    };
    t.strictSame(
      mailsInBrief(app)
        .filter((mail) => mail.endsWith(' Again'))
        .sort(),
      all.map((name) => `${due(name)} ${name} Again`).sort(),
    );
  },
);

t.test('three days after the last hour the report compares both groups', async (t) => {
  const { app, all, book } = await readAtTheirHours(t);
  const utr = await book();
  await until(app, '2026-01-21T09:30');
  const isHeldOut = (name: string) => fractionFor(mailOf(app, name).address, utr) < 0.1;
  const later = all.filter((name) => !isHeldOut(name));
  for (const name of later) read(app, name, [app.clock.now().getTime()]);
  const early = (await sendReport(app, utr)).best_hour;
  t.match(early, { compared_at: '2026-01-24T09:00:00.000000Z', opened_more: null, clicked_more: null });
  await until(app, '2026-01-24T09:00');
  const groups = {
    at_best_hour: { delivered: later.length, clicked: later.length },
    at_start: { delivered: all.length - later.length, clicked: 0 },
  };
  const one = { people: later.length, successes: later.length };
  const { best_hour } = await sendReport(app, utr);
  t.match(best_hour, {
    ...groups,
    clicked_more: differenceInterval(one, { people: all.length - later.length, successes: 0 }),
  });
});

t.test('without opens and clicks everybody gets it at the start', async (t) => {
  const { app, utr } = await sentCampaign(t, {}, { people: [{ email: 'a@example.org' }, { email: 'b@example.org' }] });
  const again = await sendAgain(t, app, utr, { best_hour: 1, subject: 'Again' });
  const { best_hours } = (await app.one.call('GET', '/single-send/best-hours', { query: { utr: again } })).body.message;
  t.match(best_hours, { looked_at: 2, with_evidence: 0, hours: [] });
  app.clock.advance(11_000);
  await app.background();
  t.equal(mailsInBrief(app).filter((mail) => mail.endsWith(' Again')).length, 2);
});

t.test(
  'a contact of another zone about whom nothing is known gets it at the usual hour by their own clock',
  async (t) => {
    const { app, book } = await readAtTheirHours(t);
    const call = async (path: string, form: Record<string, unknown>) =>
      t.equal((await app.one.call('POST', path, { form })).status, 200, path);
    await call('/custom-fields/save', { field_name: 'time_zone', field_type: 'text' });
    await call('/contacts/add', {
      ...{ contact_type_id: 1, first_name: 'y', email: 'york@example.org', country: 1 },
      'custom_field[time_zone]': 'America/New_York',
    });
    const utr = await book();
    await until(app, '2026-01-21T09:00');
    const isHeldOut = fractionFor(mailOf(app, 'york').address, utr) < 0.1;
    const [mail] = mailsInBrief(app).filter((mail) => / york /.test(mail));
    // Most of the others read in Afghanistan at half past midnight.
    t.equal(mail, `${isHeldOut ? '01-20T09:00' : '01-21T05:00'} york Again`);
  },
);

t.test('contacts get it at their usual hour by their own clock after the clocks have changed', async (t) => {
  const { app, all, book } = await readAtTheirHours(t);
  await app.one.call('POST', '/custom-fields/save', { form: { field_name: 'time_zone', field_type: 'text' } });
  const contacts = all.map((name) => ({
    email: `${name}@example.org`,
    custom_field: { time_zone: 'Europe/Berlin' },
  }));
  await app.one.call('POST', '/contacts/upsert', { json: { contact_type_id: 1, contacts } });
  while (app.clock.now().getTime() < Date.parse('2026-03-29T08:00Z')) {
    app.clock.advance(24 * HOUR);
    await app.background();
  }
  const utr = await book({ schedule_date: '2026-03-30' });
  await until(app, '2026-03-31T09:00');
  const heldOut = all.filter((name) => fractionFor(mailOf(app, name).address, utr) < 0.1);
  // In January they read at 6:00 and 20:00 UTC, which was 7:00 and 21:00 in Berlin.
  const due = (name: string) => {
    if (heldOut.includes(name)) return '03-30T09:00';
    return name.startsWith('early') ? '03-31T05:00' : '03-30T19:00';
  };
  t.strictSame(
    mailsInBrief(app)
      .filter((mail) => mail.endsWith(' Again'))
      .sort(),
    all.map((name) => `${due(name)} ${name} Again`).sort(),
  );
});

t.test('best hours exclude the contacts’ own zones, a first batch and an A/B test', async (t) => {
  const { app, utr, book } = await readAtTheirHours(t);
  const record = (await app.one.call('GET', '/single-send/details', { query: { utr: await book() } })).body.message;
  const {
    template_id,
    template_html,
    sender_id,
    unsubscribe_group_id,
    single_send_name,
    subject,
    preheader,
    utr: booked,
  } = record.singleSend[0];
  const all = { template_id, template_html, sender_id, unsubscribe_group_id, single_send_name, subject, preheader };
  const form = {
    ...all,
    utr: booked,
    recipient_id: ['contacts_1'],
    schedule_type: 1,
    schedule_date: '2026-01-20',
    schedule_time: '09:00',
  };
  const refused = async (path: string, more: Record<string, unknown>) => {
    const { status, body } = await app.one.call('POST', path, { form: { ...form, ...more } });
    return [status, body.errors];
  };
  t.strictSame(await refused('/single/send/update', { local_time: 1 }), [
    422,
    { best_hour: ['A campaign is sent either in each contact’s own time zone or at their best hour.'] },
  ]);
  t.match(await refused('/single/send/update', { canary_percent: 2 }), [422, { best_hour: [/first batch/] }]);
  const variants = { utr: booked, winner_by: 'hand', subjects: ['Other'] };
  const { status, text } = await app.one.call('POST', '/single/send/variants', { form: variants });
  t.match({ status, text }, { status: 422, text: /best hour/ });
  t.equal((await sendReport(app, utr)).best_hour, null, 'a campaign sent at once');
});
