/** A campaign on a running service, and what became of it. */
import { setTimeout } from 'node:timers/promises';
import { SHOP_FORM } from './sender.ts';
import type { Service } from './service.ts';

export interface Counters {
  status: number;
  triggered: number;
  delivered: number;
  bounces: number;
  unsubscribes: number;
}

/** Imports so many readers into a new contact type, which gets this id, and sends them a mail at once; gives how far it is. */
export async function startCampaign(service: Service, people: number, typeId = 1): Promise<() => Promise<Counters>> {
  const answer = await service.post('/single/send/create', {
    ...(await addReaders(service, people, typeId)),
    template_html: '<p>Hello</p>',
    schedule_type: '0',
  });
  const { utr } = answer.message as { utr: string };
  return () => countersOf(service, utr);
}

/** Imports so many readers, and makes a sender and a group; gives the form of a mail to the readers, without its content and its time. */
export async function addReaders(service: Service, people: number, typeId = 1) {
  await service.post('/contacts-type/add', { name: 'Readers' });
  const lines = Array.from({ length: people }, (_, at) => `reader${at}@example.org`);
  await service.upload(typeId, ['email', ...lines].join('\n'));
  await service.post('/unsubscribes-groups/save', { group_name: 'News', description: 'News', is_display: '1' });
  await service.post('/sender/save', SHOP_FORM);
  return {
    template_id: '1',
    sender_id: '1',
    unsubscribe_group_id: '1',
    single_send_name: 'News',
    subject: 'News',
    preheader: 'News',
    'recipient_id[0]': `contacts_${typeId}`,
  };
}

/** An A/B test as a report has it. */
interface ReportedTest {
  state: string;
  rest: number;
  variants: { recipients: number; delivered: number }[];
}

/**
 * Sends a mail to so many readers with a test on half of them: B has the subject, the sender name and the content
 * `Other`. Somebody chooses.
 */
export async function startAbTest(service: Service, people: number) {
  const mail = await addReaders(service, people);
  const link = (name: string) => `<a href="https://shop.example/${name}">${name}</a>`;
  const other = `<p>Other mail ${link('other')} <a href="((web_copy))">in the browser</a></p>`;
  await service.post('/templates/create', { template_name: 'Other', template_html: other });
  const { message } = await service.post('/single/send/draft', { single_send_name: 'News' });
  const { utr } = message as { utr: string };
  const { templates } = (await service.get('/templates/list')).message as {
    templates: { id: number; template_name: string }[];
  };
  const id = templates.find(({ template_name: name }) => name === 'Other')?.id ?? 0;
  await service.post('/single/send/variants', {
    utr,
    'subjects[0]': 'Other',
    'sender_names[0]': 'Other name',
    'template_ids[0]': String(id),
    share: '50',
    winner_by: 'hand',
  });
  const html = `<p>First mail ${link('first')} <a href="((web_copy))">in the browser</a></p>`;
  await service.post('/single/send/update', { ...mail, utr, template_html: html, schedule_type: '0' });
  return {
    async report(): Promise<ReportedTest | null> {
      const { report } = (await service.get(`/single-send/report?utr=${utr}`)).message as {
        report: { ab_test: ReportedTest | null };
      };
      return report.ab_test;
    },
    choose: (variant: number) => service.post('/single/send/variants/decide', { utr, variant: String(variant) }),
    counters: () => countersOf(service, utr),
  };
}

/** Returns the counters of a single send. */
export async function countersOf(service: Service, utr: string): Promise<Counters> {
  const { message } = await service.get(`/single-send/details?utr=${utr}`);
  const [send] = (message as { singleSend: Counters[] }).singleSend;
  if (send === undefined) throw new Error('no single send');
  return send;
}

/** Waits until what `read` gives is as asked for, a minute at most. */
export async function until<T>(read: () => Promise<T> | T, reached: (value: T) => boolean): Promise<T> {
  let value = await read();
  for (let tries = 0; tries < 1200 && !reached(value); tries++) {
    await setTimeout(50);
    value = await read();
  }
  if (!reached(value)) throw new Error(`it does not get there; the last value is ${JSON.stringify(value)}`);
  return value;
}
