/** A random month (repeatable by its seed) of an account with six random journeys, run in the real application and in the model. */
import type { Test } from 'tap';
import { randomOf } from '../../fixtures/random.ts';
import { fractionFor } from '../../src/delivery/queue/variant-groups.ts';
import { OutboxCourier } from '../../src/delivery/transport/outbox.ts';
import { startApp } from '../support/app.ts';
import { addForm, askedMails, subscribe } from '../support/forms.ts';
import { SENDER } from '../support/sender.ts';
import { DAY, HOUR, type Journey, JourneyModel, type Rule, type Step, type Trigger, timeOf } from './journey-model.ts';

/** When the months begin: a Monday, thirteen days before clocks change in Europe. */
const BEGIN = Date.UTC(2026, 2, 16, 6);
const ZONES = ['', '', 'Europe/Berlin', 'America/New_York', 'Asia/Kathmandu', 'Pacific/Kiritimati'];
const TRIGGERS = ['join', 'event', 'date', 'field', 'form', 'hand'] as const;
const EVENTS = ['purchase', 'login'];
const MINUTE = HOUR / 60;

/** The segments of the account. `hand` is one that nobody is in by its rules. */
const RULES: Readonly<Record<string, Rule>> = {
  gold: ({ tier }) => tier === 'gold',
  pro: ({ plan }) => plan === 'pro',
  buyers: (_fields, events) => events.has('purchase'),
  ...Object.fromEntries(TRIGGERS.map((kind) => [`own ${kind}`, (fields) => fields[`own_${kind}`] === 'yes'])),
  ...Object.fromEntries(TRIGGERS.map((kind) => [`hand ${kind}`, () => false])),
};
const SEGMENTS = Object.keys(RULES);

/** The application and the model, and what can happen to both. */
export async function startJourneys(t: Test, seed: number) {
  const random = randomOf(seed);
  const app = await startApp(t);
  app.clock.advance(BEGIN - app.clock.now().getTime());
  app.restartBackground();
  const now = () => app.clock.now().getTime();
  const between = (low: number, high: number) => low + Math.floor(random() * (high - low + 1));
  const oneOf = <Item>(items: readonly Item[]): Item => items[between(0, items.length - 1)] as Item;
  const isLikely = (share: number) => random() < share;

  const call = async (method: string, path: string, options: object) => {
    const answer = await app.one.call(method, path, options);
    if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.text}`);
    return answer.body.message;
  };
  const post = (path: string, form: Record<string, unknown>) => call('POST', path, { form });
  const utrs = new Map<number, string>();
  const journeys = new Map<number, Journey>();
  /** The kinds of steps by their ids. */
  const kinds = new Map<number, string>();
  const utrOf = (id: number) => utrs.get(id) ?? '';
  const idOf = (table: string, utr: string) =>
    Number(app.db.prepare(`SELECT id FROM ${table} WHERE utr = ?`).pluck().get(utr));
  const addressOf = app.db.prepare<[string], number>('SELECT id FROM addresses WHERE normalized_email = ?').pluck();
  const stepUtr = app.db.prepare<[number], string>('SELECT utr FROM automation_schedules WHERE id = ?').pluck();
  // Who takes which path is as good as random, and follows from the address alone. That the shares are right is another test.
  const model = new JourneyModel(RULES, (person, of) => {
    const key = typeof of === 'number' ? stepUtr.get(of) : `${utrOf(Number(of.slice('hold-out '.length)))}.hold-out`;
    return fractionFor(addressOf.get(person) ?? 0, key ?? '');
  });

  await post('/contacts-type/add', { name: 'Readers' });
  await post('/unsubscribes-groups/save', { group_name: 'News', description: 'n', is_display: 1 });
  await post('/sender/save', SENDER);
  for (const field of ['tier', 'plan', 'time_zone', ...TRIGGERS.map((kind) => `own_${kind}`)])
    await post('/custom-fields/save', { field_name: field, field_type: 'text' });
  await post('/custom-fields/save', { field_name: 'due', field_type: 'datetime-local' });
  for (const name of SEGMENTS) {
    const [first = '', second = ''] = name.split(' ');
    const [select_field, select_operator, value] =
      name === 'buyers'
        ? ['event.purchase', 'has happened', []]
        : first === 'own'
          ? [`own_${second}`, 'is', ['yes']]
          : first === 'hand'
            ? ['email', 'is', ['nobody@example.net']]
            : [name === 'gold' ? 'tier' : 'plan', 'is', [name]];
    const rules = { select_field: [select_field], select_operator: [select_operator], value };
    await post('/segment/store', { segment_name: name, contact_type_id: 1, ...rules });
  }
  const segmentId = (name: string | null) => (name === null ? 0 : SEGMENTS.indexOf(name) + 1);
  const form = await addForm(t, app);
  await app.background();

  const randomTrigger = (kind: (typeof TRIGGERS)[number]): Trigger => {
    switch (kind) {
      case 'event':
        return { kind, event: 'purchase', least: oneOf([0, 20]) };
      case 'date':
        return { kind, days: between(-3, 3), hour: oneOf([0, 2, 9, 23]), yearly: isLikely(0.5) };
      case 'field':
        return { kind, field: 'plan', value: 'pro' };
      default:
        return { kind };
    }
  };

  /** Adds a random step, with its paths, at the end of a path. */
  const addStep = async (
    journey: Pick<Journey, 'id' | 'trigger' | 'exitsOnLeaving'>,
    place: { parent?: string; branch?: string },
    depth: number,
  ): Promise<Step> => {
    const { kind: own } = journey.trigger;
    const [unit, period] = oneOf([
      ['instantly', 1],
      ['hours', between(1, 30)],
      ['days', between(1, 3)],
    ] as const);
    const wait = { instantly: 0, hours: HOUR, days: DAY }[unit] * period;
    const about = { utr: utrOf(journey.id), waiting_type: unit, waiting_period: period, ...place };
    const add = async (form: Record<string, unknown>) =>
      (await post('/automations/step/add', { ...about, ...form })).utr;
    // An hour and a weekday are by the clock of a contact, so they are not waited for by somebody who has been deleted.
    const choices = [
      'mail',
      'mail',
      'mail',
      'set_field',
      'segment_add',
      'segment_remove',
      'webhook',
      'if',
      'split',
      'wait_event',
      'wait_date',
    ];
    const timed = journey.exitsOnLeaving ? ['wait_hour', 'wait_weekday'] : [];
    const kind = depth > 0 && isLikely(0.08) ? 'exit' : oneOf([...choices, ...timed]);
    const hour = between(0, 23);
    const timeout = between(5, 60);
    const begun = { wait, yes: [], no: [] };
    let step: Step;
    let utr: string;
    switch (kind) {
      case 'if': {
        const segment = oneOf(['gold', 'buyers', `own ${own}`, `hand ${own}`]);
        utr = await add({ kind, segment_id: segmentId(segment) });
        step = { id: 0, kind, segment, ...begun };
        break;
      }
      case 'segment_add':
      case 'segment_remove':
        utr = await add({ kind, segment_id: segmentId(`hand ${own}`) });
        step = { id: 0, kind, segment: `hand ${own}`, ...begun };
        break;
      case 'split': {
        const share = between(20, 80);
        utr = await add({ kind, share });
        step = { id: 0, kind, share, ...begun };
        break;
      }
      case 'set_field': {
        // Only the journey that is started by hand changes a field that concerns others: it starts another one.
        const change = oneOf([
          { field: `own_${own}`, value: 'yes' },
          { field: `own_${own}`, value: 'no' },
          ...(own === 'hand' ? [{ field: 'plan', value: 'pro' }] : []),
        ]);
        utr = await add({ kind, ...change });
        step = { id: 0, kind, ...change, ...begun };
        break;
      }
      case 'wait_event': {
        const [event, least] = [oneOf(EVENTS), oneOf([0, 20])];
        const event_filter = least === 0 ? '' : `value >= ${least}`;
        utr = await add({ kind: 'wait_until', until: 'event', event, event_filter, timeout_hours: timeout });
        step = { id: 0, kind, event, least, timeout: timeout * HOUR, ...begun };
        break;
      }
      case 'wait_date':
        utr = await add({ kind: 'wait_until', until: 'date', field: 'due', hour, timeout_hours: timeout });
        step = { id: 0, kind, hour, timeout: timeout * HOUR, ...begun };
        break;
      case 'wait_hour':
        utr = await add({ kind: 'wait_until', until: 'hour', hour });
        step = { id: 0, kind, hour, ...begun };
        break;
      case 'wait_weekday': {
        const weekday = between(1, 7);
        utr = await add({ kind: 'wait_until', until: 'weekday', weekday, hour });
        step = { id: 0, kind, weekday, hour, ...begun };
        break;
      }
      case 'exit':
      case 'webhook':
        utr = await add({ kind });
        step = { id: 0, kind, ...begun };
        break;
      default: {
        const mail = { sender_id: 1, template_id: 1, subject: 'A mail', template_html: '<p>Hello</p>' };
        utr = (await post('/automations/schedule/add', { ...about, ...mail })).utr;
        step = { id: 0, kind: 'mail', ...begun };
      }
    }
    step.id = idOf('automation_schedules', utr);
    kinds.set(step.id, step.kind);
    if (!['if', 'split', 'wait_event', 'wait_date'].includes(kind) || depth > 1) return step;
    for (const branch of ['yes', 'no'] as const)
      for (let left = between(0, 3); left > 0; left--)
        step[branch].push(await addStep(journey, { parent: utr, branch }, depth + 1));
    return step;
  };

  const addJourney = async (kind: (typeof TRIGGERS)[number]) => {
    const target = isLikely(0.3) ? 'gold' : null;
    const trigger = randomTrigger(kind);
    const given = { target, trigger, exitsOnLeaving: isLikely(0.4), holdOut: oneOf([0, 0, 25]) };
    const goal = oneOf([null, 'buyers', `own ${kind}`, `hand ${kind}`]);
    const exitRule = oneOf([null, null, 'pro', `own ${kind}`]);
    const isYearly = trigger.kind === 'date' && trigger.yearly;
    const reEntry = isYearly
      ? { kind: 'key' as const }
      : oneOf([
          { kind: 'never' as const },
          { kind: 'days' as const, days: between(1, 9) },
          ...(kind === 'event' || kind === 'date' ? [{ kind: 'key' as const }] : []),
        ]);
    const { utr } = await post('/automations/create', {
      type: 'welcome',
      automation_for: target === null ? 'contacts_1' : `segments_${segmentId(target)}`,
      automation_name: kind,
      unsubscribe_group_id: 1,
      exit_criteria: given.exitsOnLeaving ? 1 : 0,
    });
    const id = idOf('automations', utr);
    utrs.set(id, utr);
    const steps: Step[] = [];
    const journey = { id, ...given, goal, exitRule, reEntry, steps };
    for (let left = between(3, 6); left > 0; left--) steps.push(await addStep(journey, {}, 0));
    const hasMail = (all: Step[]): boolean =>
      all.some((one) => one.kind === 'mail' || hasMail([...one.yes, ...one.no]));
    while (!hasMail(steps)) steps.push(await addStep(journey, {}, 2));
    await post('/automations/update', {
      utr,
      goal_segment_id: segmentId(goal),
      exit_segment_id: segmentId(exitRule),
      hold_out: given.holdOut,
      re_entry: reEntry.kind,
      ...(reEntry.kind === 'days' && { re_entry_days: reEntry.days }),
      trigger_kind: kind,
      ...(trigger.kind === 'event' && {
        trigger_event: trigger.event,
        trigger_filter: trigger.least === 0 ? '' : `value >= ${trigger.least}`,
      }),
      ...(trigger.kind === 'date' && {
        trigger_field: 'due',
        trigger_days: Math.abs(trigger.days),
        trigger_before: trigger.days < 0 ? 1 : 0,
        trigger_hour: trigger.hour,
        trigger_yearly: trigger.yearly ? 1 : 0,
      }),
      ...(trigger.kind === 'field' && { trigger_field: trigger.field, trigger_value: trigger.value }),
      ...(trigger.kind === 'form' && { trigger_form_id: form.id }),
    });
    model.add(journey);
    journeys.set(id, journey);
  };
  for (const kind of TRIGGERS) await addJourney(kind);
  const live = new Set<number>();

  const known: string[] = [];
  const contacts = new Map<string, number>();
  const unsubscribed = new Set<string>();
  let people = 0;
  let orders = 0;
  const someone = () => known.at(-between(1, Math.min(known.length, 60))) ?? '';
  const someDate = () =>
    new Date(now() + between(-6, 12) * DAY)
      .toISOString()
      .replace('2026', isLikely(0.3) ? '2019' : '2026')
      .slice(0, 'YYYY-MM-DD'.length);
  const someFields = () => ({
    tier: oneOf(['gold', 'silver', '']),
    plan: oneOf(['pro', 'free', 'free', '']),
    due: isLikely(0.5) ? someDate() : '',
  });
  const newPerson = () => {
    people += 1;
    known.push(`p${people}@example.org`);
    return `p${people}@example.org`;
  };
  const put = async (email: string, custom_field: Record<string, string>) => {
    const json = { contact_type_id: 1, contacts: [{ email, custom_field }] };
    const { contacts: given } = await call('POST', '/contacts/upsert', { json });
    if (given[0].outcome === 'failed') throw new Error(JSON.stringify(given));
    return given[0] as { outcome: string; contact_id: number };
  };
  const add = async (person: string) => {
    const fields = { ...someFields(), time_zone: oneOf(ZONES) };
    const { contact_id: id } = await put(person, fields);
    contacts.set(person, id);
    model.join(now(), person, id, fields);
  };
  const disagreements: string[] = [];

  const happenings = {
    addNew: () => add(newPerson()),
    async addAgain() {
      const person = known.find((one) => !contacts.has(one));
      if (person !== undefined) await add(person);
    },
    async change() {
      const person = someone();
      if (!contacts.has(person)) return;
      const [name, value] = oneOf(Object.entries({ ...someFields(), time_zone: oneOf(ZONES) }));
      await put(person, { [name]: value });
      model.setFields(now(), person, { [name]: value });
    },
    async report() {
      const person = someone();
      if (person === '') return;
      // A shop reports an order again now and then, and events of some hours ago.
      if (isLikely(0.8)) orders += 1;
      const event = {
        name: isLikely(0.6) ? 'purchase' : 'login',
        value: oneOf([5, 20, 70]),
        key: `order ${orders} ${person}`,
      };
      const happened = now() - (isLikely(0.2) ? between(1, 30) * HOUR : 0);
      const json = { email: person, ...event, at: new Date(happened).toISOString() };
      const { recorded } = await call('POST', '/events', { json });
      if (recorded === 1) model.report(now(), person, { ...event, happened });
    },
    async unsubscribe() {
      const person = someone();
      if (person === '' || unsubscribed.has(person)) return;
      await post('/unsubscribes-groups/manually-add', { unsubscribe_groups_id: 1, email_address: person });
      unsubscribed.add(person);
      model.setUnsubscribed(person, true);
    },
    async resubscribe() {
      const row = app.db
        .prepare<[], { id: number; email_address: string }>(
          'SELECT id, email_address FROM unsubscribers ORDER BY id DESC LIMIT 1',
        )
        .get();
      if (row === undefined) return;
      await post('/unsubscribes-groups/recipients-bulk-delete', { strIds: [row.id] });
      unsubscribed.delete(row.email_address);
      model.setUnsubscribed(row.email_address, false);
    },
    async remove() {
      const person = someone();
      const id = contacts.get(person);
      if (id === undefined) return;
      await post('/contacts/bulk-delete', { strIds: [id] });
      contacts.delete(person);
      model.remove(now(), person);
    },
    async confirm() {
      const person = isLikely(0.5) ? newPerson() : someone();
      if (person === '' || unsubscribed.has(person)) return;
      app.db.exec('DELETE FROM outbox');
      await subscribe(app, form, person, {}, `192.0.2.${between(1, 250)}`);
      const [asked] = await askedMails(app);
      if (asked === undefined) return;
      await app.page('POST', asked.path);
      if (!contacts.has(person)) {
        const id = Number(app.db.prepare('SELECT max(id) FROM contacts WHERE email = ?').pluck().get(person));
        contacts.set(person, id);
        model.join(now(), person, id, {});
      }
      model.confirm(now(), person);
    },
    async enter() {
      const id = oneOf([...utrs.keys(), TRIGGERS.length]);
      if (!live.has(id)) return;
      const given = [...new Set([someone(), someone(), someone()])].filter((one) => one !== '');
      if (given.length === 0) return;
      const answer = await call('POST', '/automations/enter', { json: { utr: utrOf(id), contacts: given } });
      for (const { contact, outcome } of answer.contacts) {
        const expected = model.enter(now(), contact, id);
        if (outcome !== expected)
          disagreements.push(`${timeOf(now())} ${contact} enters ${id}: ${outcome}, not ${expected}`);
      }
    },
    async pauseOrResume() {
      const id = oneOf([...utrs.keys()]);
      if (live.has(id) && isLikely(0.7)) return;
      const path = live.has(id) ? '/automations/pause' : '/automations/set-live';
      await call('GET', path, { query: { utr: utrOf(id) } });
      if (live.delete(id)) model.pause(id);
      else {
        live.add(id);
        model.setLive(now(), id);
      }
    },
  };
  const often = ['addNew', 'addNew', 'change', 'change', 'report', 'report', 'report', 'enter'] as const;
  const seldom = ['addAgain', 'unsubscribe', 'resubscribe', 'remove', 'confirm', 'pauseOrResume'] as const;

  /** Does what is due, in the application and in the model; now and then killed between its steps. */
  const tick = async () => {
    model.tick(now());
    if (isLikely(0.05)) {
      for (let steps = between(1, 4); steps > 0; steps--) await app.step();
      app.restartBackground((db) => new OutboxCourier(db, app.clock));
    }
    await app.background();
  };

  const world = {
    model,
    disagreements,

    /** Adds the first contacts and sets all journeys live. */
    async begin() {
      for (let left = 20; left > 0; left--) await happenings.addNew();
      await tick();
      for (const id of utrs.keys()) {
        await call('GET', '/automations/set-live', { query: { utr: utrOf(id) } });
        live.add(id);
        model.setLive(now(), id);
      }
      await tick();
    },

    /** Lets an hour pass in which things happen at random times. What is due is done before and after each. */
    async hour() {
      const moments = Array.from({ length: between(0, 2) }, () => between(1, 59) * MINUTE).sort((a, b) => a - b);
      let passed = 0;
      for (const moment of moments) {
        app.clock.advance(moment - passed);
        passed = moment;
        await tick();
        await happenings[isLikely(0.75) ? oneOf(often) : oneOf(seldom)]();
        await tick();
      }
      app.clock.advance(HOUR - passed);
      await tick();
    },

    /** The log of the application in the form of the model. */
    log(): Map<string, string[]> {
      const rows = app.db
        .prepare<
          [],
          { key: string; at: number; run: number; code: string; step: number | null; reason: string | null }
        >(
          `
          SELECT l.automation_id || ' ' || a.normalized_email AS key, l.happened_at AS at, l.run, l.code, l.step_id AS step, l.reason
          FROM enrolment_log l JOIN addresses a ON a.id = l.address_id ORDER BY l.id`,
        )
        .all();
      // The values that decided at a step are not part of the model.
      const line = ({ at, run, code, step, reason }: (typeof rows)[number]) =>
        `${timeOf(at)} run ${run} ${code}${step === null ? '' : ` step ${step}`}${reason === null || step !== null ? '' : ` ${reason.slice(1)}`}`;
      return new Map([...Map.groupBy(rows, ({ key }) => key)].map(([key, theirs]) => [key, theirs.map(line)]));
    },

    /**
     * What the log has: of entries the trigger and, if it is not the first, the way to enter again; of steps kind and
     * outcome; reasons of ends.
     */
    happened(): Set<string> {
      const found = new Set<string>();
      for (const [key, lines] of world.log()) {
        const journey = journeys.get(Number(key.split(' ')[0]));
        found.add(`re-entry ${journey?.reEntry.kind}`);
        for (const line of lines) {
          const [, , run, code, what, step] = line.split(' ');
          if (code === 'entered') found.add(`${journey?.trigger.kind} entered`);
          if (code === 'entered' && run !== '1') found.add(`again ${journey?.reEntry.kind}`);
          found.add(what === 'step' ? `${kinds.get(Number(step))} ${code}` : (what ?? code ?? ''));
        }
      }
      return found;
    },

    /** The runs in which the goal was reached, in the form of the model. */
    goals(): string[] {
      return app.db
        .prepare<[], { automation: number; email: string; run: number; at: number }>(
          `SELECT e.automation_id AS automation, a.normalized_email AS email, e.run, e.goal_at AS at
          FROM enrolments e JOIN addresses a ON a.id = e.address_id WHERE e.goal_at IS NOT NULL`,
        )
        .all()
        .map(({ automation, email, run, at }) => `${automation} ${email} ${run} ${timeOf(at)}`);
    },

    /** The mails of each journey that were accepted for each address: `journey step address`, repeated for each run. */
    mails(): string[] {
      return app.db
        .prepare<[], string>(
          `SELECT m.automation_id || ' ' || m.owner_id || ' ' || a.normalized_email || ' ' || d.run
          FROM deliveries d JOIN mailings m ON m.id = d.mailing_id JOIN addresses a ON a.id = d.address_id
          WHERE m.owner_kind = 'schedule' AND d.state = 2`,
        )
        .pluck()
        .all();
    },
  };
  return world;
}
