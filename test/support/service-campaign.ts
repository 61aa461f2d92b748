/** A campaign on a running service, and what became of it. */
import { setTimeout } from 'node:timers/promises';
import type { Service } from './service.ts';

export interface Counters {
  status: number;
  delivered: number;
  unsubscribes: number;
}

/** Imports so many readers into a new contact type, which gets this id, and sends them a mail at once; gives how far it is. */
export async function startCampaign(service: Service, people: number, typeId = 1): Promise<() => Promise<Counters>> {
  await service.post('/contacts-type/add', { name: 'Readers' });
  const lines = Array.from({ length: people }, (_, at) => `reader${at}@example.org`);
  await service.upload(typeId, ['email', ...lines].join('\n'));
  await service.post('/unsubscribes-groups/save', { group_name: 'News', description: 'News', is_display: '1' });
  await service.post('/sender/save', {
    from_name: 'Lark Books',
    from_email: 'hello@example.com',
    reply_to_email: 'hello@example.com',
    country_id: '1',
    company_address: '1 Harbour St',
    nickname: 'Shop',
  });
  const answer = await service.post('/single/send/create', {
    template_id: '1',
    template_html: '<p>Hello</p>',
    sender_id: '1',
    unsubscribe_group_id: '1',
    single_send_name: 'News',
    subject: 'News',
    preheader: 'News',
    'recipient_id[0]': `contacts_${typeId}`,
    schedule_type: '0',
  });
  const { utr } = answer.message as { utr: string };
  return () => countersOf(service, utr);
}

async function countersOf(service: Service, utr: string): Promise<Counters> {
  const { message } = await service.get(`/single-send/details?utr=${utr}`);
  const [send] = (message as { singleSend: Counters[] }).singleSend;
  if (send === undefined) throw new Error('no single send');
  return send;
}

/** Waits until what `read` gives is as asked for, a minute at most. */
export async function until<T>(read: () => Promise<T> | T, reached: (value: T) => boolean): Promise<T> {
  for (let tries = 0; tries < 1200; tries++) {
    const value = await read();
    if (reached(value)) return value;
    await setTimeout(50);
  }
  throw new Error('it does not get there');
}
