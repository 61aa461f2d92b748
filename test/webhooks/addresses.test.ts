/** Which addresses webhooks may have: nothing that only this machine or its network can reach. */
import t from 'tap';
import { checkedLookup, isPublicAddress, urlFault } from '../../src/webhooks/addresses.ts';
import { type Answer, Requests } from '../../src/webhooks/requests.ts';
import { startApp } from '../support/app.ts';
import { addWebhook, ON_THIS_MACHINE, startDispatcher } from '../support/webhooks/dispatching.ts';
import { startReceiver } from '../support/webhooks/receiver.ts';

const PRIVATE = [
  ...['0.0.0.0', '10.1.2.3', '100.64.0.1', '100.100.100.200', '127.0.0.1', '127.255.255.254', '169.254.169.254'],
  ...['172.16.0.1', '172.31.255.255', '192.0.0.192', '192.168.1.1', '198.18.0.1', '224.0.0.1', '255.255.255.255'],
  ...['168.63.129.16', '::', '::1', '::ffff:127.0.0.1', '::ffff:8.8.8.8', '::127.0.0.1', '64:ff9b::7f00:1', 'fc00::1'],
  ...['fd00:ec2::254', 'fe80::1', 'fe80::1%eth0', 'ff02::1', '2002:7f00:1::', '2001::1', '2001:db8::1', '3fff::1', ''],
];
const PUBLIC = ['8.8.8.8', '172.32.0.1', '100.128.0.1', '169.253.0.1', '2606:4700:4700::1111', '2a00:1450:4001::1'];

const ask = (requests: Requests) =>
  new Promise<Answer>((resolve) => {
    requests.post([], '{}', resolve);
  });

t.test('an address is public only if the whole Internet can reach it', async (t) => {
  for (const address of PRIVATE) t.notOk(isPublicAddress(address), address);
  for (const address of PUBLIC) t.ok(isPublicAddress(address), address);
});

t.test('a URL that leads to this machine or its network is refused, however it is written', async (t) => {
  const hosts = [
    ...['127.0.0.1', '127.1', '2130706433', '0x7f000001', '0177.0.0.1', '0', '[::1]', '[::ffff:7f00:1]', '[::]'],
    ...[
      'localhost',
      'LOCALHOST',
      'localhost.',
      'a.localhost',
      'db',
      'printer.local',
      'metadata.google.internal',
      'x.lan',
    ],
    ...['169.254.169.254', '①②⑦.0.0.1', '127。0。0。1', '10.0.0.1'],
  ];
  for (const host of hosts) t.equal(urlFault(`https://${host}/`, false), 'private', host);
  t.equal(urlFault('http://example.com/', false), 'plain');
  t.equal(urlFault('https://user:secret@example.com/', false), 'login');
  for (const url of ['ftp://example.com', 'file:///etc/passwd', 'example.com', 'https://', 'https://a.example/#x'])
    t.equal(urlFault(url, false), 'url', url);
  t.equal(urlFault('https://hooks.example.com:8443/a?b=c', false), null);
  t.equal(urlFault('http://127.0.0.1:3000/', true), null);
});

t.test('a name is refused if any of its addresses is not public, and no connection is made', async (t) => {
  const receiver = await startReceiver(t);
  const port = new URL(receiver.url).port;
  for (const addresses of [['127.0.0.1'], ['8.8.8.8', '127.0.0.1'], ['::ffff:127.0.0.1'], []]) {
    const requests = new Requests(`https://hooks.example.com:${port}/`, false, async () => addresses);
    const answer = await ask(requests);
    t.match(answer, { isSuccess: false, status: 0, reply: /not public/ }, addresses.join());
    await requests.close();
  }
  t.equal(receiver.events.length, 0);
});

t.test('the connection goes to the address that was checked: the name is resolved once', async (t) => {
  let times = 0;
  const lookup = checkedLookup(async () => [++times === 1 ? '8.8.8.8' : '127.0.0.1']);
  const found = await new Promise((resolve) => {
    lookup('hooks.example.com', { all: true }, (_error, addresses) => resolve(addresses));
  });
  t.strictSame(found, [{ address: '8.8.8.8', family: 4 }]);
  t.equal(times, 1);
});

t.test('a private address that was allowed once is refused when the setting is gone', async (t) => {
  const app = await startApp(t, ON_THIS_MACHINE);
  const receiver = await startReceiver(t);
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  const { id } = await addWebhook(app.one, receiver.url, ['contact.created']);
  await app.one.call('POST', '/contacts/add', { form: { contact_type_id: 1, email: 'anna@example.org', country: 1 } });
  await startDispatcher(t, app, { allowPrivate: false }).untilIdle();
  t.equal(receiver.events.length, 0);
  const { log } = (await app.one.call('GET', '/webhooks/log', { query: { id } })).body.message;
  t.match(log, [{ is_success: 0, status: 0, reply: /not public/ }]);
});
