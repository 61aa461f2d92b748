/** An account in which something has happened, with names that would break a page which took them for markup. */
import type { Test } from 'tap';
import { DAY_MS } from '../../../src/units.ts';
import type { TestApp } from '../app.ts';
import { mustSucceed, sendCampaign } from '../campaign.ts';

const FIRST_NAMES = ['Zoë', 'Łukasz', 'José', 'Anna', 'Mehmet', 'Ngọc', 'Björn', 'Chloé', 'Siobhán', 'Ivo', 'Priya'];
/** A name that ends an attribute and a tag, is long, has no place to break, and turns the direction of writing. */
export const HOSTILE = `"><script>alert(1)</script><img src=x onerror=alert(2)> \u202eمرحبا 🐦 ${'unbroken'.repeat(15)}`;

/** What records are called: by a name that may do harm, or by the plain one. */
export type Naming = (plain: string) => string;
export const HOSTILE_NAMES: Naming = () => HOSTILE;

/** Fills the first account: people who came over a month, mailings sent, scheduled and held. Gives the utr of the first mailing. */
export async function fillAccount(t: Test, app: TestApp, naming: Naming = HOSTILE_NAMES): Promise<string> {
  const people = Array.from({ length: 12 }, (_, at) => ({
    email: `reader${at}@example.org`,
    first_name: `Reader ${at}`,
  }));
  const { utr } = await sendCampaign(t, app, { people });
  const must = mustSucceed(t, app.one);
  await must('/contacts-type/add', { name: 'Nobody' });
  const create = (name: string, fields: Record<string, unknown> = {}) =>
    must('/single/send/create', {
      template_id: 1,
      template_html: '<p>Hello</p>',
      sender_id: 1,
      unsubscribe_group_id: 1,
      single_send_name: name,
      subject: name,
      preheader: 'News',
      recipient_id: ['contacts_1'],
      schedule_type: 0,
      ...fields,
    });
  await create('Autumn reading list');
  await create(naming('Short stories for long trains'));
  await create('Held for want of people', { recipient_id: ['contacts_2'] });
  app.clock.advance(11_000);
  await app.background();
  for (let day = 1; day <= 20; day++) {
    app.clock.advance(DAY_MS);
    for (let person = 0; person < (day * 5) % 7; person++) {
      await must('/contacts/add', {
        contact_type_id: 1,
        first_name: naming(FIRST_NAMES[(day + person) % FIRST_NAMES.length] ?? '').slice(0, 60),
        country: 84,
        email: `d${day}p${person}@example.org`,
      });
    }
    if (day % 4 === 0) await must('/global-unsubscribes/save', { email_address: `d${day}p0@example.org` });
  }
  await create('Winter sale', { schedule_type: 1, schedule_date: '2026-12-01', schedule_time: '09:00' });
  await create(`${naming('Poems')} later`.slice(-200), {
    schedule_type: 1,
    schedule_date: '2026-12-02',
    schedule_time: '09:00',
  });
  return utr;
}
