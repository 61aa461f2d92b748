/** What the API says about feeds, and what a form of one holds. */
import type { FastifyRequest } from 'fastify';
import { notFound } from '../../../failure.ts';
import type { ApiClient } from '../../api-client.ts';
import { field } from '../../sign-in/fields.ts';
import { texts } from '../people/filter.ts';

export const RHYTHMS = ['item', 'daily', 'weekly'] as const;

/** What an owner chooses about a feed, as the form has it. */
export interface Values {
  feed_name: string;
  url: string;
  sender_id: string;
  unsubscribe_group_id: string;
  recipient_id: readonly string[];
  exclude_specific_recipient_id: readonly string[];
  template_id: string;
  subject: string;
  rhythm: string;
  weekday: string;
  time_of_day: string;
  time_zone: string;
}

export interface Feed
  extends Omit<Values, 'sender_id' | 'unsubscribe_group_id' | 'template_id' | 'weekday' | 'rhythm'> {
  id: number;
  sender_id: number;
  unsubscribe_group_id: number;
  template_id: number;
  weekday: number;
  rhythm: (typeof RHYTHMS)[number];
  state: 'active' | 'paused' | 'held';
  held_reason: string | null;
  feed_title: string;
  waiting: number;
  read_at: string | null;
  failure: string;
  next_mail_at: string | null;
}

/** What would be sent; `problem` says why nothing. */
export interface Preview {
  is_sample: 0 | 1;
  items: number;
  new_items: number;
  subject: string;
  html: string;
  problem: string | null;
}

/** A template that mails of a feed can have. */
export interface TemplateChoice {
  id: number;
  template_name: string;
}

export async function readFeeds(api: ApiClient): Promise<Feed[]> {
  return (await api.get<{ feeds: Feed[] }>('/feeds')).feeds;
}

/** The feed with this id; throws 404. */
export async function requireFeed(api: ApiClient, id: string): Promise<Feed> {
  const feed = (await readFeeds(api)).find((one) => String(one.id) === id);
  if (feed === undefined) throw notFound();
  return feed;
}

/** What the form of a stored feed begins with. */
export function valuesOf(feed: Feed): Values {
  const { sender_id, unsubscribe_group_id, template_id, weekday } = feed;
  return {
    ...feed,
    sender_id: String(sender_id),
    unsubscribe_group_id: String(unsubscribe_group_id),
    template_id: String(template_id),
    weekday: String(weekday),
  };
}

/** What was typed. */
export function typedValues(request: FastifyRequest): Values {
  const body: Record<string, unknown> = Object.assign(Object.create(null), request.body);
  return {
    feed_name: field(request, 'feed_name'),
    url: field(request, 'url').trim(),
    sender_id: field(request, 'sender_id'),
    unsubscribe_group_id: field(request, 'unsubscribe_group_id'),
    recipient_id: texts(body.recipient_id),
    exclude_specific_recipient_id: texts(body.exclude_specific_recipient_id),
    template_id: field(request, 'template_id'),
    subject: field(request, 'subject'),
    rhythm: field(request, 'rhythm'),
    weekday: field(request, 'weekday'),
    time_of_day: field(request, 'time_of_day'),
    time_zone: field(request, 'time_zone').trim(),
  };
}
