/** The built service as a process: a relay that is added while it runs is used at once, and after a kill. */
import { join } from 'node:path';
import t from 'tap';
import { FormData, fetch } from 'undici';
import { parseAddress } from '../../../../src/audience/contacts/addresses.ts';
import { connect } from '../../../../src/database/open.ts';
import { COMMAND_LINE } from '../../../../src/users/audit.ts';
import { createSession } from '../../../../src/users/sessions.ts';
import { addUser } from '../../../../src/users/users.ts';
import { FROM_PAGE } from '../../../support/people.ts';
import { Service, type Sink, startSink } from '../../../support/service.ts';
import { startCampaign, until } from '../../../support/service-campaign.ts';

const PEOPLE = 5;
const DONE = 3;

/** Sends forms to the API of a running service as an operator who is signed in; gives the status. */
function operatorOf(service: Service) {
  const db = connect(join(service.folder, 'test.db'));
  const address = parseAddress('owner@example.org');
  if (address === null) throw new Error('no address');
  const given = { accountId: 1, address, name: 'Owner', role: 'owner' as const, passwordHash: 'none' };
  const { id } = addUser(db, given, COMMAND_LINE, new Date());
  const secret = createSession(db, id, { address: '127.0.0.1', userAgent: 'Test' }, new Date());
  db.$client.close();
  const headers = { ...FROM_PAGE, cookie: `sendlark=${secret}` };
  return async (path: string, fields: Record<string, string>) => {
    const body = new FormData();
    for (const [name, value] of Object.entries(fields)) body.append(name, value);
    return (await fetch(`${service.origin}/api${path}`, { method: 'POST', headers, body })).status;
  };
}

/** The form of a relay that is this sink. */
function relayOf(sink: Sink) {
  const { hostname, port } = new URL(sink.url);
  return { name: 'Sink', host: hostname, port, security: 'none' };
}

t.test('a relay that an operator adds takes the mail of a running service, and of the next start', async (t) => {
  const sink = await startSink(t);
  const service = new Service(t, { PUBLIC_URL: 'http://mail.example.com', SENDER_VERIFICATION: 'optional' });
  await service.start();
  const send = async (typeId: number) => {
    const counters = await startCampaign(service, PEOPLE, typeId);
    await until(counters, ({ status }) => status === DONE);
    return sink.mails.filter(({ to }) => to.startsWith('reader')).length;
  };
  t.equal(await send(1), 0, 'without a relay it stays in the outbox');

  t.equal(await operatorOf(service)('/relays/save', relayOf(sink)), 200);
  t.equal(await send(2), PEOPLE, 'then it leaves through the relay');

  await service.end('SIGKILL');
  await service.start();
  t.equal(await send(3), 2 * PEOPLE, 'and after a kill');
});

t.test('a fresh service takes its public address and relay by form, and keeps both over a kill', async (t) => {
  const sink = await startSink(t);
  const service = new Service(t, { SENDER_VERIFICATION: 'optional' });
  await service.start();
  const save = operatorOf(service);
  t.equal(await save('/public-address/save', { public_url: 'https://shop.example.com' }), 200);
  t.equal(await save('/relays/save', relayOf(sink)), 200);
  const send = async (typeId: number) => {
    await until(await startCampaign(service, PEOPLE, typeId), ({ status }) => status === DONE);
    const mails = sink.mails.filter(({ to }) => to.startsWith('reader'));
    return mails.filter(({ raw }) => raw.includes('<https://shop.example.com/u/')).length;
  };
  t.equal(await send(1), PEOPLE);
  await service.end('SIGKILL');
  await service.start();
  t.equal(await send(2), 2 * PEOPLE);
});
