/** A random month of a shop (repeatable by its seed), run in the real application and in the model, and the relay that both use. */

import PostalMime from 'postal-mime';
import type { Test } from 'tap';
import { randomOf } from '../../fixtures/random.ts';
import type { Outcome } from '../../src/delivery/transport/courier.ts';
import { startApp } from '../support/app.ts';
import { mustAnswer } from '../support/segments.ts';
import { type Mail, MonthModel } from './month-model.ts';

export const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const UNITS = { instantly: 0, hours: HOUR, days: DAY };
const SENDER = {
  from_email: 'lark@example.com',
  reply_to_email: 'lark@example.com',
  country_id: 1,
  company_address: '1 Harbour St',
  nickname: 'l',
};
const ACCEPTED: Outcome = { kind: 'accepted', stage: 'body', code: 250, enhanced: '2.0.0', reply: '250 ok' };
const LATER: Outcome = { kind: 'deferred', stage: 'rcpt', code: 451, enhanced: '4.7.1', reply: '451 4.7.1 greylisted' };

/** A relay that greylists: it defers one mail in four, once. It decides by subject and recipient, so that two of them decide alike. */
function greylist(): (subject: string, to: string) => boolean {
  const deferred = new Set<string>();
  return (subject, to) => {
    const key = `${subject} ${to}`;
    const sum = [...key].reduce((hash, letter) => (Math.imul(hash, 31) + letter.charCodeAt(0)) | 0, 7);
    if (sum % 4 !== 0 || subject.startsWith('At once') || deferred.has(key)) return false;
    deferred.add(key);
    return true;
  };
}

export async function startWorld(t: Test, seed: number) {
  const random = randomOf(seed);
  const between = (low: number, high: number) => low + Math.floor(random() * (high - low + 1));
  const accepted: Mail[] = [];
  const isPutOff = greylist();
  const app = await startApp(t, {}, () => ({
    room: () => 100,
    async send({ start, to }) {
      const raw = start();
      if (raw === null) return 'withdrawn';
      const { subject = '', from } = await PostalMime.parse(Buffer.from('bytes' in raw ? raw.bytes : raw));
      if (to !== SENDER.from_email && isPutOff(subject, to)) return LATER;
      if (to !== SENDER.from_email) accepted.push({ subject, to, from: from?.name ?? '', at: now() });
      return ACCEPTED;
    },
    close: async () => undefined,
  }));
  const now = () => app.clock.now().getTime();
  const model = new MonthModel('Lark', greylist());
  /** By contact id. */
  const contacts = new Map<number, { email: string; type: number }>();
  /** The addresses of deleted contacts, which may be added again. */
  const gone: string[] = [];
  const corrected = new Set<string>();
  const automations = new Map<number, { utr: string; isLive: boolean; mails: { id: number; utr: string }[] }>();
  let people = 0;
  let mails = 0;

  const call = (method: string, path: string, options: object) => mustAnswer(app, method, path, options);
  const post = (path: string, form: Record<string, unknown>) => call('POST', path, { form });
  const newPerson = () => `p${++people}@example.org`;
  const pick = <T>(from: readonly T[]): T | undefined => from[between(0, Math.max(0, from.length - 1))];
  const contactOf = (email: string, type: number) =>
    [...contacts].find(([, contact]) => contact.email === email && contact.type === type)?.[0];
  const anyContact = () => pick([...contacts]);
  const automationOf = (number: number) => {
    const automation = automations.get(number);
    if (automation === undefined) throw new Error(`no automation ${number}`);
    return automation;
  };
  const joined = (id: number, email: string, type: number) => {
    contacts.set(id, { email, type });
    model.join(now(), id, email, type);
  };

  for (const name of ['Readers', 'Customers']) await post('/contacts-type/add', { name });
  for (const group_name of ['News', 'Offers'])
    await post('/unsubscribes-groups/save', { group_name, description: 'd', is_display: 1 });
  await post('/sender/save', { ...SENDER, from_name: 'Lark' });
  await app.background();

  const world = {
    app,
    model,
    accepted,
    between,

    async createAutomation(number: number, target: number, group: number, exit: 0 | 1) {
      const { body } = await post('/automations/create', {
        type: 'welcome',
        automation_for: `contacts_${target}`,
        automation_name: `Automation ${number}`,
        unsubscribe_group_id: group,
        exit_criteria: exit,
      });
      automations.set(number, { utr: body.message.utr, isLive: false, mails: [] });
      model.createAutomation(number, { target, group, exit });
    },

    async addMail(number: number, waiting_type: keyof typeof UNITS, waiting_period: number) {
      const { utr, mails: theirs } = automationOf(number);
      const subject = `Mail ${++mails} of ${number}`;
      const about = { sender_id: 1, template_id: 1, preview_img: 'blank.png', template_html: '<p>Hello</p>' };
      await post('/automations/schedule/create', { utr, subject, waiting_period, waiting_type, ...about });
      const { body } = await call('GET', '/automations/schedule', { query: { utr } });
      const made: { id: number; utr: string } = body.message.automation_schedules.at(-1);
      theirs.push({ id: made.id, utr: made.utr });
      model.addMail(number, made.id, subject, waiting_period * UNITS[waiting_type]);
    },

    /** Deletes a random mail of an automation, unless it is the only one. */
    async deleteMail(number: number) {
      const { mails: theirs } = automationOf(number);
      const [mail] = theirs.length > 1 ? theirs.splice(between(0, theirs.length - 1), 1) : [];
      if (mail === undefined) return;
      await call('DELETE', '/automations/schedule/delete', { query: { utr: mail.utr } });
      model.deleteMail(now(), number, mail.id);
    },

    /** Saves a changed mail on its design page. */
    async redesign(number: number) {
      const { utr } = automationOf(number);
      const { body } = await call('GET', '/automations/schedule', { query: { utr } });
      const mail: { design_url: string } | undefined = pick(body.message.automation_schedules);
      if (mail === undefined) return;
      const { pathname } = new URL(mail.design_url);
      const { status, text } = await app.page('POST', pathname, { json: { html: `<p>Hello ${between(1, 999)}</p>` } });
      if (status !== 200) throw new Error(`${pathname}: ${text}`);
    },

    async setLive(number: number) {
      const automation = automationOf(number);
      await call('GET', '/automations/set-live', { query: { utr: automation.utr } });
      automation.isLive = true;
      model.setLive(number);
    },

    async pause(number: number) {
      const automation = automationOf(number);
      await call('GET', '/automations/pause', { query: { utr: automation.utr } });
      automation.isLive = false;
      model.pause(number);
    },

    async send(subject: string, targets: number[], excluded: number[], group: number) {
      await post('/single/send/create', {
        template_id: 1,
        template_html: '<p>x</p>',
        sender_id: 1,
        unsubscribe_group_id: group,
        single_send_name: 's',
        subject,
        preheader: 'p',
        recipient_id: targets.map((type) => `contacts_${type}`),
        ...(excluded.length > 0 && { exclude_specific_recipient_id: excluded.map((type) => `contacts_${type}`) }),
        schedule_type: 0,
      });
      model.send({ subject, targets, excluded, group });
    },

    /** Imports a file of new people, some existing ones, and some who were deleted. */
    async import(count: number, type: number) {
      const known = Array.from({ length: Math.floor(count / 5) }, () => anyContact()?.[1].email ?? newPerson());
      const back = Array.from({ length: Math.min(gone.length, Math.floor(count / 5)) }, () => pick(gone) ?? '');
      const everybody = new Set([...Array.from({ length: count }, newPerson), ...known, ...back]);
      const content = `email,city\n${[...everybody].map((person) => `${person},Town ${between(1, 99)}`).join('\n')}`;
      await call('POST', '/contacts/upload-csv', {
        multipart: [
          ['contact_type_id', String(type)],
          ['file', { filename: 'people.csv', content }],
        ],
      });
      const { body } = await call('GET', '/contacts/list', { query: { contact_type_id: type } });
      const added: { id: number; email: string }[] = body.message.contacts.filter(
        ({ id }: { id: number }) => !contacts.has(id),
      );
      for (const { id, email } of added) joined(id, email, type);
    },

    async add(email: string, type: number) {
      if (contactOf(email, type) !== undefined) return;
      const { headers } = await post('/contacts/add', { contact_type_id: type, email, country: 1 });
      joined(Number(String(headers.location).split('=').at(-1)), email, type);
    },

    async remove(id: number) {
      const contact = contacts.get(id);
      if (contact === undefined) return;
      await post('/contacts/bulk-delete', { strIds: [id] });
      contacts.delete(id);
      if (!corrected.has(contact.email)) gone.push(contact.email);
      model.leave(now(), id);
    },

    async move(id: number) {
      const contact = contacts.get(id);
      const type = 3 - (contact?.type ?? 0);
      if (contact === undefined || contactOf(contact.email, type) !== undefined) return;
      await post('/contacts/update', { contact_id: id, contact_type_id: type, email: contact.email, country: 1 });
      model.leave(now(), id);
      joined(id, contact.email, type);
    },

    /** Changes an address to a new one, for a person with only one contact, so that nobody has the old address afterwards. */
    async correct(id: number) {
      const contact = contacts.get(id);
      if (contact === undefined || contactOf(contact.email, 3 - contact.type) !== undefined) return;
      const email = newPerson();
      corrected.add(contact.email);
      await post('/contacts/update', { contact_id: id, contact_type_id: contact.type, email, country: 1 });
      contacts.set(id, { ...contact, email });
      model.correct(now(), id, email);
    },

    /** Group 0 is all mail. */
    async unsubscribe(email: string, group: number) {
      const form = { email_address: email, ...(group > 0 && { unsubscribe_groups_id: group }) };
      await post(group === 0 ? '/global-unsubscribes/save' : '/unsubscribes-groups/manually-add', form);
      model.unsubscribe(now(), email, group);
    },

    async resubscribe(group: number) {
      const [path, name, query] =
        group === 0
          ? ['/global-unsubscribes', 'unSubscribers', {}]
          : ['/unsubscribes-groups/recipients-list', 'recipients', { groupId: group }];
      const { body } = await call('GET', path, { query });
      const entry: { id: number; email_address: string } | undefined = pick(body.message[name]);
      if (entry === undefined) return;
      const target = group === 0 ? '/global-unsubscribes/delete' : '/unsubscribes-groups/recipients-delete';
      await call('DELETE', target, { query: { id: entry.id } });
      model.resubscribe(now(), entry.email_address, group);
    },

    async renameSender() {
      const from_name = `Lark ${between(1, 999)}`;
      await post('/sender/update', { ...SENDER, sender_id: 1, from_name });
      model.nameSender(from_name);
    },

    /** Does one random thing that can happen in a shop. */
    async event() {
      const [id = 0, contact] = anyContact() ?? [];
      const email = contact?.email ?? newPerson();
      const automation = between(1, automations.size);
      const happenings = [
        () => world.add(newPerson(), between(1, 2)),
        () => world.add(email, between(1, 2)),
        () => world.add(pick(gone) ?? newPerson(), between(1, 2)),
        () => world.remove(id),
        () => world.remove(id),
        () => world.move(id),
        () => world.correct(id),
        () => world.unsubscribe(email, between(0, 2)),
        () => world.unsubscribe(email, between(1, 2)),
        () => world.resubscribe(between(0, 2)),
        async () => (between(1, 4) === 1 ? world.renameSender() : undefined),
        async () => (between(1, 4) === 1 ? world.redesign(automation) : undefined),
        async () => {
          if (between(1, 6) > 1) return;
          if (automationOf(automation).isLive) await world.pause(automation);
          else await world.setLive(automation);
        },
        async () => {
          if (between(1, 6) > 1) return;
          await world.deleteMail(automation);
          if (between(1, 2) === 1) await world.addMail(automation, 'hours', between(1, 60));
        },
      ];
      await happenings[between(0, happenings.length - 1)]?.();
    },

    /** Lets six hours pass in which things happen at random times, and then runs the background work. */
    async quarter(...scripted: (() => Promise<unknown>)[]) {
      const all = [...scripted, ...Array.from({ length: between(2, 6) }, () => () => world.event())];
      const pause = Math.floor((6 * HOUR) / (all.length + 1));
      for (const happening of all) {
        app.clock.advance(pause);
        await happening();
      }
      app.clock.advance(6 * HOUR - all.length * pause);
      model.tick(now());
      await app.background();
    },
  };
  return world;
}
