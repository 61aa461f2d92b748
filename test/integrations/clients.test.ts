/** The clients for programs of Node and Python, beside the built service, each with a key pair of the smallest scopes. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { Sendlark, SendlarkError, verifyWebhook } from '../../integrations/node/sendlark.ts';
import { newSecret } from '../../src/webhooks/signature.ts';
import type { Service } from '../support/service.ts';
import { skipWithout, toolPath } from '../support/tools.ts';
import { withShop } from './shop.ts';
import { signedWebhook, weaklySigned } from './signed-webhook.ts';

const ZOE = { email: 'zoe@example.org', first_name: 'Zoë' };
const WRONG = { email: 'nonsense' };
const ORDER = { email: 'bob@example.org', name: 'order', key: 'order-1', value: 49.9, currency: 'EUR' };
const MAIL = { sender_id: 1, email: 'zoe@example.org', subject: 'Your order', text: 'Thank you' };
/** What each client gets: of two contacts, a subscription, an event sent twice, a mail sent twice, and the list. */
const EXPECTED = {
  upsert: [1, 0, 1],
  state: 'asked',
  recorded: [1, 0],
  repeated: [0, 1],
  sameMail: true,
  emails: ['bob@example.org', 'zoe@example.org'],
  refused: 403,
};

t.test('the client for Node does what a shop needs, with a key that may do no more', async (t) => {
  const service = await withShop(t);
  const clientWith = (...scopes: Parameters<Service['makeKeys']>) => {
    const { PublicKey: publicKey, SecretKey: secretKey } = service.makeKeys(...scopes);
    return new Sendlark({ url: service.origin, publicKey, secretKey });
  };
  const contacts = clientWith('contacts');
  const mails = clientWith('transactional');
  const { created, updated, failed } = await contacts.upsert(1, [ZOE, WRONG]);
  const { state } = await contacts.subscribe({ contact_type_id: 1, email: 'ann@example.org', source: 'Checkout' });
  const events = [await contacts.record([ORDER], 1), await contacts.record([ORDER], 1)];
  const sent = [await mails.send(MAIL, 'order-1'), await mails.send(MAIL, 'order-1')];
  const emails: string[] = [];
  for await (const { email } of clientWith('read').list<{ id: number; email: string }>('/contacts/list', 'contacts'))
    emails.push(email);
  const refused = await mails.upsert(1, [ZOE]).catch((error: unknown) => error);
  t.strictSame(
    {
      upsert: [created, updated, failed],
      state,
      recorded: events.map(({ recorded }) => recorded),
      repeated: events.map(({ repeated }) => repeated),
      sameMail: sent[0]?.utr === sent[1]?.utr,
      emails: emails.sort(),
      refused: refused instanceof SendlarkError && refused.status,
    },
    EXPECTED,
  );
  t.match(refused, { name: 'SendlarkError' }, 'as a log shows it');
});

const PYTHON = `
import json, sys
from sendlark import Sendlark, SendlarkError, verify_webhook
given = json.load(sys.stdin)
client = lambda keys: Sendlark(given["url"], keys["PublicKey"], keys["SecretKey"])
contacts, mails, reader = (client(given[name]) for name in ("contacts", "transactional", "read"))
done = contacts.upsert(1, [given["zoe"], given["wrong"]])
events = [contacts.record([given["order"]], 1) for _ in range(2)]
sent = [mails.send(given["mail"], "order-1") for _ in range(2)]
try:
    mails.upsert(1, [given["zoe"]])
    refused = 200
except SendlarkError as error:
    refused = error.status
hook = given["webhook"]
verified = verify_webhook(hook["body"], hook["headers"], hook["secret"])
def is_taken(hook):
    try:
        verify_webhook(hook["body"], hook["headers"], hook["secret"])
        return True
    except ValueError:
        return False
forged = [is_taken(one) for one in [{**hook, "body": hook["body"] + " "}, *given["weak"]]]
print(json.dumps({
    "upsert": [done["created"], done["updated"], done["failed"]],
    "state": contacts.subscribe("ann@example.org", contact_type_id=1, source="Checkout"),
    "recorded": [event["recorded"] for event in events],
    "repeated": [event["repeated"] for event in events],
    "sameMail": sent[0]["utr"] == sent[1]["utr"],
    "emails": sorted(contact["email"] for contact in reader.list("/contacts/list", "contacts")),
    "refused": refused,
    "verified": verified["type"],
    "forged": forged,
}))
`;

t.test('the client for Python does the same', { skip: skipWithout('python') }, async (t) => {
  const service = await withShop(t);
  const keys = (['contacts', 'transactional', 'read'] as const).map((scope) => [scope, service.makeKeys(scope)]);
  const given = {
    url: service.origin,
    zoe: ZOE,
    wrong: WRONG,
    order: ORDER,
    mail: MAIL,
    webhook: signedWebhook(),
    weak: weaklySigned,
  };
  const running = promisify(execFile)(toolPath('python'), ['-c', PYTHON], {
    cwd: fileURLToPath(new URL('../../integrations/python', import.meta.url)),
    env: { PYTHONDONTWRITEBYTECODE: '1', PYTHONIOENCODING: 'utf-8' },
  });
  running.child.stdin?.end(JSON.stringify({ ...given, ...Object.fromEntries(keys) }));
  t.strictSame(JSON.parse((await running).stdout), {
    ...EXPECTED,
    verified: 'contact.created',
    forged: Array(5).fill(false),
  });
});

/** What stands between a client and the service: it answers one request by a redirect, one by a page, one by a refusal with a date. */
async function startProxy(t: Test): Promise<{ origin: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    if (asked.length === 1) response.writeHead(302, { location: '/elsewhere' }).end();
    else if (asked.length === 2) response.end('<h1>Back soon</h1>');
    else response.writeHead(429, { 'retry-after': 'Wed, 21 Oct 2037 07:28:00 GMT' }).end('{"errors": "slower"}');
  });
  t.teardown(() => server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

const UPSERT = 'POST /api/contacts/upsert';
/** The statuses that a client throws, with the keys sent to nobody but the address it was given. */
const THROWN = [302, 200, 429];

t.test('the client for Node follows no redirect and takes only answers of the service', async (t) => {
  const { origin, asked } = await startProxy(t);
  const client = new Sendlark({ url: origin, publicKey: 'pk', secretKey: 'sk', attempts: 1 });
  for (const status of THROWN) await t.rejects(client.upsert(1, [ZOE]), { message: `Sendlark answered ${status}` });
  t.strictSame(asked, [UPSERT, UPSERT, UPSERT]);
});

const PYTHON_THROWN = `
import json, sys, time
from sendlark import Sendlark, SendlarkError
time.sleep = lambda seconds: None
thrown = []
for attempts in (1, 1, 2):
    try:
        Sendlark(sys.argv[1], "pk", "sk", attempts=attempts).upsert(1, [{"email": "zoe@example.org"}])
    except SendlarkError as error:
        thrown.append(error.status)
print(json.dumps(thrown))
`;

t.test('so does the client for Python', { skip: skipWithout('python') }, async (t) => {
  const { origin, asked } = await startProxy(t);
  const { stdout } = await promisify(execFile)(toolPath('python'), ['-c', PYTHON_THROWN, origin], {
    cwd: fileURLToPath(new URL('../../integrations/python', import.meta.url)),
    env: { PYTHONDONTWRITEBYTECODE: '1' },
  });
  t.strictSame(JSON.parse(stdout), THROWN);
  t.strictSame(asked, [UPSERT, UPSERT, UPSERT, UPSERT], 'the refusal is tried again, whatever says how long to wait');
});

t.test('the client for Node takes a webhook that is signed, and no other', (t) => {
  const { secret, body, headers } = signedWebhook();
  t.equal(verifyWebhook(body, headers, secret).type, 'contact.created');
  t.throws(() => verifyWebhook(`${body} `, headers, secret), 'of another body');
  t.throws(() => verifyWebhook(body, headers, newSecret()), 'of another secret');
  t.throws(() => verifyWebhook(body, {}, secret), 'without a signature');
  t.throws(() => verifyWebhook(body, headers, secret, Date.now() + 301_000), 'from more than five minutes ago');
  for (const { body, headers, secret } of weaklySigned)
    t.throws(
      () => verifyWebhook(body, headers, secret),
      { message: /the secret is not/ },
      `with the secret “${secret}”`,
    );
  t.end();
});
