/** What the tests of the integrations start from. */
import type { Test } from 'tap';
import { SHOP_FORM } from '../support/sender.ts';
import { Service } from '../support/service.ts';

/** A service with a list, a sender and a form. */
export async function withShop(t: Test): Promise<Service> {
  const service = new Service(t, { SENDER_VERIFICATION: 'optional' });
  await service.start();
  await service.post('/contacts-type/add', { name: 'Readers' });
  await service.post('/sender/save', SHOP_FORM);
  await service.post('/forms/create', { name: 'Checkout', contact_type_id: '1', sender_id: '1' });
  return service;
}
