/** Rules about mails, opens, clicks and automations in the form of a segment: the same as through the API, and in words. */
import t from 'tap';
import { ACTIVITY_FIELDS, operatorsOf } from '../../src/audience/segments/rules.ts';
import { SENTENCES } from '../../src/errors/sentences.ts';
import { sentCampaign } from '../support/recipient-links.ts';
import { mustAnswer, storeSegment } from '../support/segments.ts';
import { visitor } from '../support/visitor.ts';

const FORM = { segment_name: 'Clicked', contact_type_id: '1', query_type: 'and', do: 'save' };
const LINK = 'https://shop.example/new?for=((first_name))';
const textOf = (html: string) => html.replaceAll(/<[^>]+>/g, '').replaceAll(/\s+/g, ' ');

/** A sent mail, an automation, and the form as an owner uses it in a language. */
async function withForm(t: Parameters<typeof sentCampaign>[0]) {
  const { app, utr } = await sentCampaign(t);
  const form = { type: 'welcome', automation_for: 'contacts_1', automation_name: 'Welcome', unsubscribe_group_id: 1 };
  const series: string = (await mustAnswer(app, 'POST', '/automations/create', { form })).body.message.utr;
  const formIn = (language: string) => {
    const { open, send } = visitor(app, 'owner', { language });
    return {
      open: async (path: string) => (await open(path)).text,
      send: (fields: Record<string, string>) => send('/contacts/segments/new', { ...FORM, ...fields }),
    };
  };
  return { app, utr, series, formIn };
}

t.test('every rule about activity is made by clicking as through the API, and can be changed', async (t) => {
  const { app, utr, series, formIn } = await withForm(t);
  const { open, send } = formIn('en');
  const operands: Record<string, string[]> = {
    mails: ['3', '90'],
    mail: [utr, '7'],
    link: [LINK],
    automation: [series],
  };
  for (const [field, type] of Object.entries(ACTIVITY_FIELDS)) {
    if (type === 'datetime-local') continue;
    for (const [operator, count] of Object.entries(operatorsOf(type))) {
      const values = operands[type]?.slice(0, count) ?? [];
      const stored = await storeSegment(app, [field, operator, ...values], {
        query_type: 'and',
        segment_name: 'Clicked',
      });
      const [value0 = '', until0 = ''] = values;
      const { status, headers } = await send({ field0: field, operator0: operator, value0, until0 });
      t.equal(status, 303, `${field} ${operator}`);
      const clicked = Number(String(headers.location).split('/').at(-1));
      const details = async (segment_id: number) => {
        const { segment } = (await mustAnswer(app, 'GET', '/segment/details', { query: { segment_id } })).body.message;
        return { ...segment, id: 0 };
      };
      t.strictSame(await details(clicked), await details(stored), `${field} ${operator}`);
      const form = await open(`/contacts/segments/${clicked}/edit`);
      t.match(form, `<option value="${field}" selected`);
      t.match(form, `<option value="${operator}" selected`);
      for (const value of values) t.match(form, `value="${value}"`, `${field} ${operator} ${value}`);
    }
  }
});

t.test('a rule about activity reads as a sentence in each language, with the subject of the mail', async (t) => {
  const { utr, series, formIn } = await withForm(t);
  const cases: [string[], string, string][] = [
    [
      ['activity.mails', 'received at least', '3', '90'],
      'All contacts in Readers whose number of e-mails in the last 90 days is at least 3',
      'Alle Kontakte in Readers, bei denen die Zahl der in den letzten 90 Tagen erhaltenen Mails mindestens 3 ist',
    ],
    [
      ['activity.mail', 'got and did not open', utr],
      'whose e-mail “For First name” arrived and was not opened',
      '„For Vorname“ angekommen ist, aber nicht geöffnet wurde',
    ],
    [
      ['activity.automation', 'is in', series],
      'whose automations include “Welcome” at the moment',
      'der Status in der Automation „Welcome“ gerade „aktiv“ ist',
    ],
    [['activity.link', 'clicked', LINK], `clicks include the link “${LINK}”`, `der Link „${LINK}“ angeklickt wurde`],
    [
      ['activity.mails', 'opened none of the last', '1'],
      'whose last e-mail was not opened',
      'die letzte Mail nicht geöffnet wurde',
    ],
    [
      ['activity.mails', 'received at least', '1', '1'],
      'whose number of e-mails in the last day is at least 1',
      'die Zahl der innerhalb des letzten Tages erhaltenen Mails mindestens 1 ist',
    ],
    [
      ['activity.last', 'is within', '30'],
      'whose last open or click is within the last 30 days',
      '„Letzte Öffnung oder letzter Klick“ in den letzten 30 Tagen liegt',
    ],
  ];
  for (const [at, language] of ['en', 'de'].entries()) {
    const { send } = formIn(language);
    for (const [[field0 = '', operator0 = '', value0 = '', until0 = ''], ...sentences] of cases) {
      const { text } = await send({ do: 'show', field0, operator0, value0, until0 });
      const said = textOf(text.replaceAll('&quot;', '"'));
      t.ok(said.includes(sentences[at] ?? '?'), `${language}: ${sentences[at]}`);
    }
  }
});

t.test(
  'a field that is changed to one about mails asks which mail, and one of another account is nowhere to choose',
  async (t) => {
    const { app, utr, formIn } = await withForm(t);
    await mustAnswer(app, 'POST', '/events', { json: { contact_id: 1, name: 'purchase' } });
    const { send } = formIn('en');
    const { text } = await send({ do: 'show', field0: 'activity.mail', operator0: 'contains', value0: 'Bonn' });
    t.match(text, '<option value selected>Please choose');
    t.match(text, `<option value="${utr}"`);
    t.notMatch(text, 'Bonn');
    const { body } = await app.two.call('GET', '/segment/names');
    t.strictSame(body.message, { mails: [], automations: [], events: [] });
  },
);

t.test(
  'every rule about events is made by clicking as through the API, can be changed, and is said in words',
  async (t) => {
    const { app, formIn } = await withForm(t);
    const json = { contact_id: 1, name: 'purchase', value: 49.9, currency: 'EUR', properties: { category: 'shoes' } };
    await mustAnswer(app, 'POST', '/events', { json });
    const { open, send } = formIn('en');
    t.match(await open('/contacts/segments/new'), '<option value="event.purchase">Event: purchase</option>');
    for (const [operator, count] of Object.entries(operatorsOf('event'))) {
      const values = ['2', '30', 'category = shoes'].slice(0, count);
      const stored = await storeSegment(app, ['event.purchase', operator, ...values], { segment_name: 'Clicked' });
      const [value0 = '', until0 = '', filter0 = ''] = values;
      const fields = { field0: 'event.purchase', operator0: operator, value0, until0, filter0 };
      const { status, headers } = await send(fields);
      t.equal(status, 303, operator);
      const clicked = Number(String(headers.location).split('/').at(-1));
      const rulesOf = app.db.prepare<[number], string>('SELECT rules FROM segments WHERE id = ?').pluck();
      t.equal(rulesOf.get(clicked), rulesOf.get(stored), operator);
      const form = await open(`/contacts/segments/${clicked}/edit`);
      t.match(form, '<option value="event.purchase" selected');
      for (const value of values) t.match(form, `value="${value}"`, `${operator} ${value}`);
    }
    const rule = {
      field0: 'event.purchase',
      operator0: 'totals at least with',
      value0: '100',
      until0: '30',
      do: 'show',
    };
    const said = async (form: typeof send) =>
      textOf((await form({ ...rule, filter0: 'category = shoes' })).text).replaceAll(/[\u2066-\u2069]/g, '');
    t.match(await said(send), 'events “purchase” with category = shoes in the last 30 days add up to at least 100');
    t.match(
      await said(formIn('de').send),
      '„purchase“ mit category = shoes in den letzten 30 Tagen zusammen mindestens 100 ergibt',
    );
    const refused = await send({ ...rule, do: 'save', filter0: 'category' });
    t.equal(refused.status, 422);
    t.match(await open('/contacts/1'), /purchase · 49\.9 EUR · category: shoes/);
  },
);

t.test(
  'a reason in a rule is stored by its code: in the user’s language on pages, and found whatever its English is',
  async (t) => {
    const { app, utr, formIn } = await withForm(t);
    const gaveUp = ':given_up{"reply":"451 4.3.0 later"}';
    const reasons = [
      [':suppressed_bounce', 'suppressed after an earlier bounce', 'Gesperrt nach einem früheren Bounce'],
      [gaveUp, 'Given up after 4 days: 451 4.3.0 later', 'Nach 4 Tagen aufgegeben: 451 4.3.0 later'],
      [
        ':over_cap{"days":7,"mails":3}',
        'frequency cap reached: 3 e-mails in 7 days',
        'Frequenzgrenze erreicht: höchstens 3 in 7 Tagen',
      ],
      ['550 5.1.1 no', '550 5.1.1 no', '550 5.1.1 no'],
      ['::starts with a colon', ':starts with a colon', ':starts with a colon'],
    ] as const;
    const setReply = app.db.prepare<[string]>('UPDATE deliveries SET state = 4, reply = ?');
    const before = { ...SENTENCES };
    t.teardown(() => Object.assign(SENTENCES, before));
    const operator = 'did not arrive because';
    const form = formIn('de');
    for (const [code, english, german] of reasons) {
      setReply.run(code);
      const byApi = await storeSegment(app, ['activity.mail', operator, utr, english]);
      const fields = { field0: 'activity.mail', operator0: operator, value0: utr, until0: code };
      const { headers } = await form.send(fields);
      const clicked = Number(String(headers.location).split('/').at(-1));
      const rulesOf = app.db.prepare<[number], string>('SELECT rules FROM segments WHERE id = ?').pluck();
      t.ok(rulesOf.get(byApi)?.includes(JSON.stringify(code)), `${code} is stored`);
      t.equal(rulesOf.get(clicked), rulesOf.get(byApi), 'the same by the form');
      for (const path of ['/contacts/segments', `/contacts/segments/${clicked}/edit`]) {
        const text = textOf((await form.open(path)).replaceAll(/[\u2066-\u2069]/g, ''));
        t.ok(text.includes(`„${german}“`), `${path}: ${german}`);
        t.notOk(english !== german && text.includes(english), `${path}: no English on a German page`);
      }

      const details = async () =>
        (await mustAnswer(app, 'GET', '/segment/details', { query: { segment_id: byApi } })).body.message.segment;
      const { value } = await details();
      t.equal(value[1], english, 'the API gives it in English');
      await app.background();
      t.equal((await details()).segment_emails_count, 1);
      Object.assign(SENTENCES, { suppressed_bounce: 'other words', given_up: 'other words: {reply}' });
      const rule = { contact_type_id: 1, select_field: ['activity.mail'], select_operator: [operator] };
      const query = { ...rule, value: [utr, code] };
      t.equal((await mustAnswer(app, 'GET', '/segment/count', { query })).body.message.count, 1);
      Object.assign(SENTENCES, before);
      const again = { ...rule, segment_id: byApi, segment_name: 'S', value: (await details()).value };
      await mustAnswer(app, 'POST', '/segment/update', { form: again });
      t.equal((await details()).segment_emails_count, 1, 'what the API says can be given again');
    }
  },
);
