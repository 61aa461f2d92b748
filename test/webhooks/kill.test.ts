/** Webhooks of the built program as a process that is killed at any moment. `KILLS=1000` makes it as long as wanted. */
import { setTimeout } from 'node:timers/promises';
import t from 'tap';
import { Service } from '../support/service.ts';
import { startReceiver } from '../support/webhooks/receiver.ts';

const KILLS = Number(process.env.KILLS ?? 6);
const MAX_WAIT_MS = 60_000;

t.test('no kill loses an event, and what comes twice has the same id', async (t) => {
  const receiver = await startReceiver(t);
  const service = new Service(t, { WEBHOOK_PRIVATE_ADDRESSES: 'allow' });
  await service.start();
  await service.post('/contacts-type/add', { name: 'Readers' });
  await service.post('/webhooks/save', { url: receiver.url, 'events[0]': 'contact.created' });
  const added = async (name: string) => {
    const email = `${name}@example.org`;
    await service.post('/contacts/add', { contact_type_id: '1', email, country: '1' });
  };
  let answered = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    const adding = (async () => {
      for (let count = 0; ; count++) {
        await added(`reader${kill}.${count}`);
        answered++;
      }
    })();
    const ended = t.rejects(adding, 'the requests end with the process');
    await setTimeout(Math.random() * 600);
    await service.end('SIGKILL');
    await ended;
    await service.start();
  }
  const { message } = await service.get('/contacts/list');
  const { contacts } = message as { contacts: { email: string }[] };
  const told = () => new Set(receiver.events.map(({ data }) => data.email));
  const until = Date.now() + MAX_WAIT_MS;
  while (told().size < contacts.length && Date.now() < until) await setTimeout(100);
  t.strictSame([...told()].sort(), contacts.map(({ email }) => email).sort());
  t.ok(contacts.length >= answered, `${contacts.length} contacts, ${receiver.events.length} requests`);
  const ids = new Map<string, string>();
  for (const { data, id } of receiver.events) {
    t.equal(ids.get(data.email) ?? id, id, data.email);
    ids.set(data.email, id);
  }
  t.equal(new Set(ids.values()).size, ids.size, 'different events have different ids');
});
