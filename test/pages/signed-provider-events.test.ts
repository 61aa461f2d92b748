/** What providers that sign their requests report, from the request to the lists and counters: Mailgun, SendGrid, Amazon SES. */
import t from 'tap';
import {
  amazon,
  intakesOf,
  MAILGUN_KEY,
  mailgun,
  makeIntake,
  PEOPLE,
  post,
  SUBSCRIBE_URL,
  sendgridKeys,
  sentToSix,
  sesBounce,
  suppressed,
  TOPIC,
  unsubscribed,
} from '../support/provider-events.ts';

const bare = (messageId = '') => messageId.slice(1, -1);

t.test(
  'Mailgun: permanent failures suppress, temporary ones change nothing, complaints and unsubscribes are carried out',
  async (t) => {
    const { app, ids, counters } = await sentToSix(t);
    const path = await makeIntake(t, app.one, 'mailgun', MAILGUN_KEY);
    const about = (at: number, event: object) =>
      mailgun(app, {
        id: `G9Bn5sl1TC6nu79C8C0bw${at}`,
        timestamp: app.clock.now().getTime() / 1000,
        recipient: PEOPLE[at]?.email,
        message: { headers: { 'message-id': bare(ids[at]), subject: 'News' }, attachments: [], size: 111 },
        ...event,
      });
    const unknown = { code: 550, message: '5.1.1 The email account that you tried to reach does not exist.' };
    const failed = (severity: string, status: object, reason = 'generic') => ({
      event: 'failed',
      'log-level': 'error',
      severity,
      reason,
      'delivery-status': { 'attempt-no': 1, description: '', ...status },
    });
    for (const request of [
      about(0, failed('permanent', unknown, 'bounce')),
      about(1, failed('temporary', { code: 452, message: '4.2.2 The email account is over quota' })),
      about(2, { event: 'complained' }),
      about(3, { event: 'unsubscribed' }),
      about(4, failed('permanent', { code: 550, message: '5.7.1 Message blocked as spam' })),
      about(5, { event: 'delivered' }),
    ])
      t.match(await post(app, path, request), { status: 200, body: { status: 'success' } });
    t.strictSame(await suppressed(app.one), ['anna@example.org bounce', 'cleo@example.org complaint']);
    t.strictSame(await unsubscribed(app.one), ['dora@example.org']);
    t.match(await counters(), { bounces: 2, delivered: 4, unsubscribes: 1 });
    t.match((await intakesOf(app.one)).mailgun, {
      ...{ permanent: 1, returned: 1, temporary: 1, complaints: 1, unsubscribes: 1, others: 1 },
      last_event: 'delivered',
      refused: 0,
    });
  },
);

t.test(
  'Mailgun: a forged, an old and a future signature are refused, and a token that was used has no effect',
  async (t) => {
    const { app, ids } = await sentToSix(t);
    const path = await makeIntake(t, app.one, 'mailgun', MAILGUN_KEY);
    const complaint = {
      event: 'complained',
      recipient: PEOPLE[0]?.email,
      message: { headers: { 'message-id': bare(ids[0]) } },
    };
    const forged = [
      mailgun(app, complaint, { key: 'another key' }),
      mailgun(app, complaint, { ageSeconds: 27 * 3600 }),
      mailgun(app, complaint, { ageSeconds: -3600 }),
      { body: JSON.stringify({ 'event-data': complaint }) },
      { body: JSON.stringify({ signature: { timestamp: {}, token: [], signature: null }, 'event-data': complaint }) },
    ];
    for (const request of forged) t.equal((await post(app, path, request)).status, 403);
    t.strictSame(await suppressed(app.one), []);

    const genuine = mailgun(app, { event: 'delivered' });
    t.equal((await post(app, path, genuine)).status, 200);
    const { signature } = JSON.parse(String(genuine.body));
    t.equal((await post(app, path, { body: JSON.stringify({ signature, 'event-data': complaint }) })).status, 200);
    t.strictSame(await suppressed(app.one), [], 'its signature with another event');
    app.clock.advance(2000);
    await post(app, path, mailgun(app, complaint, { key: 'another key' }));
    t.match((await intakesOf(app.one)).mailgun, {
      refused: 6,
      last_refusal: 'signature',
      duplicates: 1,
      complaints: 0,
    });
  },
);

t.test('SendGrid: a batch with a valid ECDSA signature is carried out once, event by event', async (t) => {
  const { app, ids, counters } = await sentToSix(t);
  const { verificationKey, request } = sendgridKeys();
  const path = await makeIntake(t, app.one, 'sendgrid', verificationKey);
  const timestamp = Math.floor(app.clock.now().getTime() / 1000);
  const event = (at: number, fields: object) => ({
    email: PEOPLE[at]?.email,
    timestamp,
    'smtp-id': ids[at],
    sg_event_id: `ZHJvcC0xMDk5NDkxOS1MUnpYbF9OSFN0T0doUTRrb2ZTbV9BLT${at}`,
    sg_message_id: 'LRzXl_NHStOGhQ4kofSm_A.filterdrecv-p3mdw1-756b745b58-kmzbl-18-5F5FC76C-9.0',
    ...fields,
  });
  const batch = JSON.stringify([
    event(0, { event: 'bounce', type: 'bounce', status: '5.1.1', reason: '550 5.1.1 user unknown' }),
    event(1, { event: 'bounce', type: 'blocked', status: '4.0.0', reason: '451 try again later' }),
    event(2, { event: 'spamreport' }),
    event(3, { event: 'unsubscribe' }),
    event(4, { event: 'dropped', reason: 'Bounced Address', status: '5.0.0' }),
    event(5, { event: 'processed' }),
    event(6, { event: 'group_unsubscribe', asm_group_id: 10, email: PEOPLE[5]?.email }),
  ]);
  for (const times of [1, 2]) t.equal((await post(app, path, request(app, batch))).status, 200, `time ${times}`);
  const expected = ['anna@example.org bounce', 'cleo@example.org complaint', 'emil@example.org bounce'];
  t.strictSame(await suppressed(app.one), expected);
  t.strictSame(await unsubscribed(app.one), ['dora@example.org']);
  t.match(await counters(), { bounces: 2, delivered: 4, unsubscribes: 1 });
  t.match((await intakesOf(app.one)).sendgrid, { permanent: 2, temporary: 1, others: 4, duplicates: 5 });

  const genuine = request(app, batch);
  for (const wrong of [
    { ...genuine, body: batch.replace('anna', 'fay') },
    { body: batch },
    { ...genuine, headers: { ...genuine.headers, 'x-twilio-email-event-webhook-timestamp': String(timestamp - 1) } },
    sendgridKeys().request(app, batch),
    request(app, batch, 27 * 3600),
  ])
    t.equal((await post(app, path, wrong)).status, 403);
});

t.test(
  'Amazon SES: a topic is confirmed once, and its bounces and complaints are carried out in both signature versions',
  async (t) => {
    const { app, ids, counters } = await sentToSix(t);
    const sns = amazon(app);
    const path = await makeIntake(t, app.one, 'ses');
    t.equal(
      (await post(app, path, sns.event(sesBounce('anna@example.org', ids[0] ?? '')))).status,
      403,
      'not confirmed yet',
    );
    t.equal((await post(app, path, sns.confirmation())).status, 200);
    t.equal(sns.asked.at(-1), SUBSCRIBE_URL, 'the address that confirms it is visited');
    t.equal((await intakesOf(app.one)).ses.topic, TOPIC);

    const complaint = {
      eventType: 'Complaint',
      complaint: {
        complainedRecipients: [{ emailAddress: 'ben@example.org' }],
        complaintFeedbackType: 'abuse',
        timestamp: app.clock.now().toISOString(),
      },
      mail: sesBounce('', ids[1] ?? '').mail,
    };
    const requests = [
      sns.event(sesBounce('anna@example.org', ids[0] ?? '')),
      sns.event(complaint, { version: '2' }),
      sns.event(sesBounce('cleo@example.org', ids[2] ?? '', 'Transient', 'MailboxFull'), { version: '2' }),
      sns.event(sesBounce('dora@example.org', ids[3] ?? '', 'Permanent', 'OnAccountSuppressionList')),
      sns.request({
        Message: 'Successfully validated SNS topic for Amazon SES event publishing.',
        Subject: 'Amazon SES',
      }),
    ];
    for (const request of [...requests, ...requests]) t.equal((await post(app, path, request)).status, 200);
    const expected = ['anna@example.org bounce', 'ben@example.org complaint', 'dora@example.org bounce'];
    t.strictSame(await suppressed(app.one), expected);
    t.match(await counters(), { bounces: 2, delivered: 4 });
    t.match((await intakesOf(app.one)).ses, { permanent: 2, temporary: 1, complaints: 1, duplicates: 4 });
    t.equal(sns.asked.length, 2, 'the certificate is fetched once');
  },
);

t.test(
  'Amazon SES: nothing but a signature of Amazon for the confirmed topic is accepted, and nothing but Amazon is asked',
  async (t) => {
    const { app, ids } = await sentToSix(t);
    const sns = amazon(app);
    const path = await makeIntake(t, app.one, 'ses');
    await post(app, path, sns.confirmation());
    const bounce = sesBounce('anna@example.org', ids[0] ?? '');
    const other = `${TOPIC}-of-somebody-else`;
    const elsewhere = (SigningCertURL: string) => sns.event(bounce, { changed: { SigningCertURL } });
    const forged = {
      'another message': sns.event(bounce, { changed: { Message: JSON.stringify(sesBounce('ben@example.org', '')) } }),
      'no signature': sns.event(bounce, { changed: { Signature: '' } }),
      'another version': sns.event(bounce, { changed: { SignatureVersion: '2' } }),
      'an unknown version': sns.event(bounce, { changed: { SignatureVersion: '3' } }),
      'raw delivery': { body: JSON.stringify(bounce) },
      'an old message': sns.event(bounce, { ageSeconds: 27 * 3600 }),
      'another topic': sns.request({ TopicArn: other, Message: JSON.stringify(bounce) }),
      'confirming another topic': sns.confirmation(other),
      'another host': elsewhere('https://sns.example.com/SimpleNotificationService-0123456789abcdef.pem'),
      'a host that begins alike': elsewhere(
        'https://sns.eu-west-1.amazonaws.com.example.com/SimpleNotificationService-01.pem',
      ),
      'a bucket of anybody': elsewhere('https://s3.eu-west-1.amazonaws.com/SimpleNotificationService-01.pem'),
      http: elsewhere('http://sns.eu-west-1.amazonaws.com/SimpleNotificationService-01.pem'),
      'another port': elsewhere('https://sns.eu-west-1.amazonaws.com:8443/SimpleNotificationService-01.pem'),
      'a login': elsewhere('https://sns.eu-west-1.amazonaws.com@127.0.0.1/SimpleNotificationService-01.pem'),
      'another path': elsewhere('https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&x=.pem'),
    };
    const asked = sns.asked.length;
    for (const [name, request] of Object.entries(forged)) t.equal((await post(app, path, request)).status, 403, name);
    t.equal(sns.asked.length, asked, 'no other address was asked');
    t.strictSame(await suppressed(app.one), []);

    const fresh = await makeIntake(t, app.two, 'ses');
    for (const url of [
      'https://sns.us-east-1.amazonaws.com/?Action=ConfirmSubscription&TopicArn=x',
      'https://127.0.0.1/?Action=ConfirmSubscription',
      SUBSCRIBE_URL.replace('ConfirmSubscription', 'DeleteTopic'),
    ]) {
      const fields = { Type: 'SubscriptionConfirmation', Token: '2336412f37', Message: 'x', SubscribeURL: url };
      t.equal((await post(app, fresh, sns.request(fields))).status, 403, url);
    }
    t.equal(sns.asked.length, asked);
  },
);
