/** Bodies of requests that make a sender, and what its owner does then. */
import { senders } from '../../src/database/schema/index.ts';
import { verifySender } from '../../src/senders/verification.ts';
import type { TestApp } from './app.ts';

export const SHOP_SENDER = {
  from_name: 'Lark Books',
  from_email: 'hello@example.com',
  reply_to_email: 'hello@example.com',
  country_id: 1,
  company_address: '1 Harbour St',
  nickname: 'Shop',
};

/** The same as the fields of a form. */
export const SHOP_FORM = { ...SHOP_SENDER, country_id: '1' };

export const SENDER = {
  from_name: 'Lark',
  from_email: 'lark@example.com',
  reply_to_email: 'lark@example.com',
  country_id: 1,
  company_address: '1 Harbour St',
  nickname: 'l',
};

/** Opens the link of each sender's verification mail. */
export function verifySenders({ drizzle, clock }: TestApp): void {
  for (const sender of drizzle.select().from(senders).all()) verifySender(drizzle, sender, '127.0.0.1', clock.now(), 0);
}
