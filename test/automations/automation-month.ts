/** A random month (repeatable by its seed) of an account with three automations, run in the real application and in the model. */

import type { Test } from 'tap';
import { randomOf } from '../../fixtures/random.ts';
import type { Courier, Outcome } from '../../src/delivery/transport/courier.ts';
import { startApp } from '../support/app.ts';
import { mustAnswer } from '../support/segments.ts';
import { SENDER } from '../support/sender.ts';
import { AutomationModel, type Mail, type Plan } from './automation-model.ts';

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

interface Handed {
  to: string;
  mailing: number;
  messageId: string;
  at: number;
}

const ACCEPTED: Outcome = { kind: 'accepted', stage: 'body', code: 250, enhanced: '2.0.0', reply: '250 ok' };

/** A transport that records the mails it gets. It can stop answering, to simulate a kill in the middle of deliveries. */
export class Relay {
  readonly handed: Handed[] = [];
  #left = Number.POSITIVE_INFINITY;
  #silent = () => {};

  /** Answers `mails` more and then no longer; resolves when it stops answering. */
  async fallSilentAfter(mails: number): Promise<void> {
    this.#left = mails;
    await new Promise<void>((resolve) => {
      this.#silent = resolve;
    });
  }

  recover(): void {
    this.#left = Number.POSITIVE_INFINITY;
  }

  courier(now: () => number): Courier {
    return {
      room: () => 100,
      send: async ({ start, to }, { mailingId }) => {
        // Of the mails in flight at the kill, record half as received and half as not.
        if (this.#left <= 0 && this.#left % 2 === 0) return this.#hang();
        const raw = start()?.bytes;
        if (raw === undefined) return 'withdrawn';
        if (this.#left <= 0) return this.#hang();
        this.#left -= 1;
        const messageId = /^Message-ID: *(.*)$/im.exec(raw.toString('latin1', 0, 4000))?.[1] ?? '';
        this.handed.push({ to, mailing: mailingId, messageId, at: now() });
        return ACCEPTED;
      },
      close: async () => undefined,
    };
  }

  #hang(): Promise<never> {
    this.#left -= 1;
    this.#silent();
    return new Promise(() => {});
  }
}

/** The application and the model, and everything that can happen to both. */
export async function startWorld(t: Test, seed: number) {
  const random = randomOf(seed);
  const relay = new Relay();
  const app = await startApp(t);
  const now = () => app.clock.now().getTime();
  const restart = () => app.restartBackground(() => relay.courier(now));
  restart();
  const model = new AutomationModel();
  const contacts = new Map<string, number>();
  const known: string[] = [];
  const utrs = new Map<number, string>();
  let people = 0;

  const send = (method: string, path: string, options: object) => mustAnswer(app, method, path, options);
  const post = (path: string, form: Record<string, unknown>) => send('POST', path, { form });
  const between = (low: number, high: number) => low + Math.floor(random() * (high - low + 1));
  const newPerson = () => {
    people += 1;
    known.push(`p${people}@example.org`);
    return `p${people}@example.org`;
  };
  /** Up to `count` different people, mostly the newest, who are still in the automations. */
  const some = (count: number) => {
    const reach = random() < 0.8 ? 2500 : known.length;
    const picked = Array.from({ length: count }, () => known.at(-between(1, Math.min(reach, known.length))) ?? '');
    return [...new Set(picked)].filter((person) => person !== '');
  };
  const key = (type: number, person: string) => `${type} ${person}`;
  const utrOf = (id: number) => utrs.get(id) ?? '';

  for (const name of ['Readers', 'Customers']) await post('/contacts-type/add', { name });
  for (const group_name of ['News', 'Offers'])
    await post('/unsubscribes-groups/save', { group_name, description: 'd', is_display: 1 });
  await post('/sender/save', SENDER);
  await app.background();

  const world = {
    app,
    model,
    relay,
    between,
    people: () => people,

    async create(id: number, plan: Plan) {
      const { body } = await post('/automations/create', {
        type: 'welcome',
        automation_for: `contacts_${plan.target}`,
        automation_name: `Automation ${id}`,
        unsubscribe_group_id: plan.group,
        exit_criteria: plan.exit,
      });
      utrs.set(id, body.message.utr);
      model.create(id, plan);
    },

    /** Gives the new mail's id. */
    async addSchedule(id: number, waiting_type: 'instantly' | 'days' | 'hours', waiting_period: number) {
      const utr = utrOf(id);
      const about = { sender_id: 1, template_id: 1, preview_img: 'blank.png', template_html: '<p>Hello</p>' };
      await post('/automations/schedule/create', { utr, subject: 'A mail', waiting_period, waiting_type, ...about });
      const { body } = await send('GET', '/automations/schedule', { query: { utr } });
      const schedule: number = body.message.automation_schedules.at(-1).id;
      const unit = { instantly: 0, hours: HOUR, days: DAY }[waiting_type];
      model.addSchedule(id, schedule, waiting_period * unit);
      return schedule;
    },

    async deleteSchedule(id: number, schedule: number) {
      const { body } = await send('GET', '/automations/schedule', { query: { utr: utrOf(id) } });
      const found = body.message.automation_schedules.find((one: { id: number }) => one.id === schedule);
      await send('DELETE', '/automations/schedule/delete', { query: { utr: found.utr } });
      model.deleteSchedule(now(), id, schedule);
    },

    async setLive(id: number) {
      await send('GET', '/automations/set-live', { query: { utr: utrOf(id) } });
      model.setLive(id);
    },

    async pause(id: number) {
      await send('GET', '/automations/pause', { query: { utr: utrOf(id) } });
      model.pause(id);
    },

    /** Imports a file of people, one in ten of whom exist already. */
    async import(count: number, type: number) {
      const repeated = some(Math.floor(count / 10));
      const everybody = [...Array.from({ length: count }, newPerson), ...repeated];
      const content = `email,first_name\n${everybody.map((person) => `${person},Some`).join('\n')}`;
      const file = { filename: 'people.csv', content };
      await send('POST', '/contacts/upload-csv', {
        multipart: [
          ['contact_type_id', String(type)],
          ['file', file],
        ],
      });
      const of = app.db
        .prepare('SELECT id FROM contacts WHERE contact_type_id = ? AND email = ? AND deleted_at IS NULL')
        .pluck();
      for (const person of everybody) {
        if (contacts.has(key(type, person))) continue;
        const id = Number(of.get(type, person));
        contacts.set(key(type, person), id);
        model.join(now(), person, id, type);
      }
    },

    async add(person: string, type: number) {
      if (contacts.has(key(type, person))) return;
      const { headers } = await post('/contacts/add', { contact_type_id: type, email: person, country: 1 });
      const id = Number(String(headers.location).split('=').at(-1));
      contacts.set(key(type, person), id);
      model.join(now(), person, id, type);
    },

    async addNew(type: number) {
      await world.add(newPerson(), type);
    },

    async move(person: string, from: number) {
      const to = 3 - from;
      const id = contacts.get(key(from, person));
      if (id === undefined || contacts.has(key(to, person))) return;
      await post('/contacts/update', { contact_id: id, contact_type_id: to, email: person, country: 1 });
      contacts.delete(key(from, person));
      contacts.set(key(to, person), id);
      model.leave(now(), person, id, from);
      model.join(now(), person, id, to);
    },

    async remove(people: string[], type: number) {
      const found = people.flatMap((person) => {
        const id = contacts.get(key(type, person));
        return id === undefined ? [] : [{ person, id }];
      });
      if (found.length === 0) return;
      await post('/contacts/bulk-delete', { strIds: found.map(({ id }) => id) });
      for (const { person, id } of found) {
        contacts.delete(key(type, person));
        model.remove(now(), person, id, type);
      }
    },

    /** Group 0 is the global list. */
    async unsubscribe(people: string[], group: number) {
      const email_address = people.join(',');
      if (group === 0) await post('/global-unsubscribes/save', { email_address });
      else await post('/unsubscribes-groups/manually-add', { unsubscribe_groups_id: group, email_address });
      for (const person of people) model.unsubscribe(now(), person, group);
    },

    /** Removes the last `count` entries from a list. */
    async resubscribe(count: number, group: number) {
      const rows = app.db
        .prepare<[number, number], { id: number; email_address: string }>(
          'SELECT id, email_address FROM unsubscribers WHERE ifnull(unsubscribe_groups_id, 0) = ? ORDER BY id DESC LIMIT ?',
        )
        .all(group, count);
      if (rows.length === 0) return;
      const path = group === 0 ? '/global-unsubscribes/bulk-delete' : '/unsubscribes-groups/recipients-bulk-delete';
      await post(path, { strIds: rows.map(({ id }) => id) });
      for (const { email_address } of rows) model.resubscribe(now(), email_address, group);
    },

    /** Does one random thing that can happen in an account. */
    async event() {
      const type = between(1, 5) === 1 ? 2 : 1;
      const happenings = [
        () => world.addNew(type),
        async () => {
          for (const person of some(3)) await world.add(person, type);
        },
        async () => {
          for (const person of some(3)) await world.move(person, type);
        },
        async () => {
          for (const person of some(1)) {
            await world.move(person, 1);
            await world.move(person, 2);
          }
        },
        () => world.remove(some(6), type),
        () => world.unsubscribe(some(between(1, 8)), between(1, 2)),
        () => world.unsubscribe(some(between(1, 3)), 0),
        () => world.resubscribe(between(1, 4), between(0, 2)),
      ];
      await happenings[between(0, happenings.length - 1)]?.();
    },

    /** Lets an hour pass in which things happen at random times, and then runs the background work. */
    async hour(...happenings: (() => Promise<unknown>)[]) {
      const all = [...happenings, ...Array.from({ length: between(0, 2) }, () => () => world.event())];
      const pause = Math.floor(HOUR / (all.length + 1));
      for (const happening of all) {
        app.clock.advance(pause);
        await happening();
      }
      app.clock.advance(HOUR - all.length * pause);
      model.tick(now());
    },

    /** Kills the background after `mails` more mails and starts another one at once. */
    async killedAfter(mails: number) {
      const silent = relay.fallSilentAfter(mails);
      const dropped = app.background().catch(() => undefined);
      const isKilled = await Promise.race([silent.then(() => true), dropped.then(() => false)]);
      relay.recover();
      restart();
      return isKilled;
    },

    /** The accepted deliveries of the ledger, in the form of the model. */
    accepted(): Mail[] {
      return app.db
        .prepare<[], Mail>(
          `SELECT normalized_email AS person, automation_id AS automation, owner_id AS schedule, d.updated_at AS at
          FROM deliveries d JOIN mailings m ON m.id = d.mailing_id JOIN addresses a ON a.id = d.address_id
          WHERE owner_kind = 'schedule' AND d.state = 2 ORDER BY d.id`,
        )
        .all();
    },
  };
  return world;
}
