/** Exports of other services, made by hand after their documentation: a hundred people who stay, and two hundred who left in every way. */
import { crc32, deflateRawSync } from 'node:zlib';
import type { VendorName } from '../../src/audience/migrate/vendors/index.ts';

export interface MadeExport {
  filename: string;
  content: Buffer;
}

const STAY = 100;
const LEFT = 200;

/** The addresses of those who stay, and of those who left; the latter are written in mixed case. */
export const STAYING = Array.from({ length: STAY }, (_, at) => `stay${at}@example.org`);
export const LEAVING = Array.from({ length: LEFT }, (_, at) => `Left${at}@Example.org`);

const cell = (text: string) => `"${text.replaceAll('"', '""')}"`;
export const csv = (header: readonly string[], rows: readonly (readonly string[])[], delimiter = ',') =>
  `${[header, ...rows].map((cells) => cells.map(cell).join(delimiter)).join('\r\n')}\r\n`;

/** The people who left, in as many parts as there are ways to leave. */
function parts(ways: number): string[][] {
  return Array.from({ length: ways }, (_, way) => LEAVING.filter((_, at) => at % ways === way));
}

const MAILCHIMP = [
  'Email Address',
  'First Name',
  'Last Name',
  'Shoe size',
  'MEMBER_RATING',
  'OPTIN_TIME',
  'LEID',
  'TAGS',
];
const mailchimpRow = (email: string, at: number) => [
  email,
  'Zoë',
  'M',
  `${36 + (at % 10)}`,
  '3',
  '2024-03-14 09:12:31',
  '7',
  at % 2 === 0 ? '"VIP","Graz, Austria"' : '',
];

function mailchimp(): MadeExport {
  const [unsubscribed = [], cleaned = [], nonsubscribed = []] = parts(3);
  const rows = (emails: string[]) => emails.map(mailchimpRow);
  return {
    filename: 'audience_export.zip',
    content: zip({
      'subscribed_email_audience_export_1a2b.csv': csv(MAILCHIMP, rows(STAYING)),
      'unsubscribed_email_audience_export_1a2b.csv': csv(
        [...MAILCHIMP, 'UNSUB_TIME', 'UNSUB_REASON'],
        rows(unsubscribed).map((cells) => [...cells, '2024-05-01 10:00:00', 'No longer interested']),
      ),
      'cleaned_email_audience_export_1a2b.csv': csv(
        [...MAILCHIMP, 'CLEAN_TIME'],
        rows(cleaned).map((cells) => [...cells, '2024-05-01 10:00:00']),
      ),
      'nonsubscribed_email_audience_export_1a2b.csv': csv(MAILCHIMP, rows(nonsubscribed)),
      'templates/Spring news.html': '<html><body><p>Hello *|FNAME|*, <a href="*|UNSUB|*">leave</a></p></body></html>',
      'reports/opens.csv': csv(['Email Address'], [['reader@example.org']]),
    }),
  };
}

function listmonk(): MadeExport {
  const [blocklisted = [], disabled = [], offAll = [], bounced = []] = parts(4);
  const list = (id: number, subscription_status: string, optin = 'single') => ({
    id,
    name: `List ${id}`,
    subscription_status,
    optin,
  });
  const person = (email: string, status: string, lists: object[]) => ({
    id: 1,
    email,
    name: 'Zoë von Müller',
    attribs: { city: 'Graz', shoe_size: 42, since: '2024-03-14T09:12:31Z', tags: ['a', 'b'] },
    status,
    lists,
  });
  const results = [
    ...blocklisted.map((email) => person(email, 'blocklisted', [list(1, 'confirmed')])),
    ...disabled.map((email) => person(email, 'disabled', [list(1, 'confirmed')])),
    ...offAll.map((email, at) =>
      person(email, 'enabled', [list(1, 'unsubscribed'), ...(at % 2 === 0 ? [list(2, 'unconfirmed', 'double')] : [])]),
    ),
    ...bounced.map((email) => person(email, 'enabled', [list(1, 'confirmed')])),
    ...STAYING.map((email, at) =>
      person(email, 'enabled', [list(1, 'confirmed'), list(2, at % 2 === 0 ? 'unconfirmed' : 'unsubscribed')]),
    ),
  ];
  const bounces = bounced.map((email, at) => ({
    id: at,
    type: at % 2 === 0 ? 'hard' : 'complaint',
    source: 'api',
    email,
  }));
  const soft = STAYING.slice(0, 5).map((email) => ({ id: 1, type: 'soft', source: 'api', email }));
  return {
    filename: 'listmonk.zip',
    content: zip({
      'subscribers.json': JSON.stringify({
        data: { results, query: '', total: results.length, per_page: results.length, page: 1 },
      }),
      'bounces.json': JSON.stringify({ data: { results: [...bounces, ...soft] } }),
      'templates.json': JSON.stringify({
        data: [
          {
            id: 1,
            name: 'Default',
            type: 'campaign',
            body: '<p>Hello {{ .Subscriber.FirstName }}</p>{{ template "content" . }}',
          },
        ],
      }),
    }),
  };
}

function sendgrid(): MadeExport {
  const [unsubscribed = [], bounced = [], invalid = [], spam = []] = parts(4);
  const header = [
    'EMAIL',
    'FIRST_NAME',
    'LAST_NAME',
    'CITY',
    'COUNTRY',
    'ALTERNATE_EMAILS',
    'PHONE_NUMBER',
    'CREATED_AT',
    'CONTACT_ID',
    'points',
  ];
  const rows = [...LEAVING, ...STAYING].map((email, at) => [
    email,
    'Zoë',
    'M',
    'Graz',
    'AT',
    'zoe@example.net',
    '0664123',
    '2024-03-14T09:12:31Z',
    'c1',
    `${at}.5`,
  ]);
  return {
    filename: 'sendgrid.zip',
    content: zip({
      'contacts.csv': csv(header, rows),
      'suppression_unsubscribes.csv': csv(
        ['email', 'created'],
        unsubscribed.map((email) => [email, '1700000000']),
      ),
      'suppression_bounces.csv': csv(
        ['status', 'reason', 'email', 'created'],
        bounced.map((email) => ['5.1.1', '550 no such user', email, '1700000000']),
      ),
      'suppression_invalid_emails.csv': csv(
        ['reason', 'email', 'created'],
        invalid.map((email) => ['Mail domain mentioned in email address is unknown', email, '1700000000']),
      ),
      'suppression_spam_reports.csv': csv(
        ['ip', 'email', 'created'],
        spam.map((email) => ['192.0.2.1', email, '1700000000']),
      ),
      'suppression_blocks.csv': csv(
        ['status', 'reason', 'email', 'created'],
        [['4.7.1', 'greylisted', STAYING[0] ?? '', '1700000000']],
      ),
    }),
  };
}

function brevo(): MadeExport {
  const [blocked = [], unsubscribed = [], bounced = []] = parts(3);
  const header = [
    'CONTACT ID',
    'EMAIL',
    'VORNAME',
    'NACHNAME',
    'SMS',
    'LAST_ORDER',
    'ADDED_TIME',
    'EMAIL_BLACKLISTED',
    'email_marketing',
    '_listIds',
  ];
  const row = (email: string, isBlocked: string, state: string) => [
    '1',
    email,
    'Zoë',
    'M',
    '43664123',
    '2024-03-14',
    '12-04-2022 09:30',
    isBlocked,
    state,
    '4,7',
  ];
  const contacts = bounced.map((email) => ({
    email,
    senderEmail: 'a@example.com',
    reason: { code: 'hardBounce', message: 'Hard bounced' },
    blockedAt: '2024-05-01T10:00:00Z',
  }));
  return {
    filename: 'brevo.zip',
    content: zip({
      'contacts.csv': csv(
        header,
        [
          ...blocked.map((email) => row(email, 'Yes', 'subscribed')),
          ...unsubscribed.map((email) => row(email, 'No', 'unsubscribed')),
          ...[...bounced, ...STAYING].map((email) => row(email, 'No', 'subscribed')),
        ],
        ';',
      ),
      'blockedContacts.json': JSON.stringify({ contacts, count: contacts.length }),
    }),
  };
}

function keila(): MadeExport {
  const [unsubscribed = [], unreachable = []] = parts(2);
  const row = (email: string, status: string) => [
    email,
    'Zoë',
    'M',
    '{"city":"Graz","points":7,"address":{"zip":"8010"}}',
    status,
    '2024-03-14T09:12:31Z',
  ];
  return {
    filename: 'contacts.csv',
    content: Buffer.from(
      csv(
        ['Email', 'First name', 'Last name', 'Data', 'Status', 'Inserted at'],
        [
          ...unsubscribed.map((email) => row(email, 'unsubscribed')),
          ...unreachable.map((email) => row(email, 'unreachable')),
          ...STAYING.map((email) => row(email, 'active')),
        ],
      ),
    ),
  };
}

/** The export of each service. */
export const EXPORTS: Readonly<Record<VendorName, () => MadeExport>> = { mailchimp, listmonk, sendgrid, brevo, keila };

/** An entry whose header states other sizes than it has, for hostile archives. */
export interface HostileEntry {
  content: Buffer;
  statedSize: number;
}

/** A ZIP archive of these files (PKWARE APPNOTE 4.3). */
export function zip(files: Readonly<Record<string, string | HostileEntry>>): Buffer {
  const local: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const [name, file] of Object.entries(files)) {
    const content = typeof file === 'string' ? Buffer.from(file) : file.content;
    const packed = deflateRawSync(content);
    const path = Buffer.from(name);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(0x800, 2);
    common.writeUInt16LE(8, 4);
    common.writeUInt32LE(crc32(content), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(typeof file === 'string' ? content.length : file.statedSize, 18);
    common.writeUInt16LE(path.length, 22);
    const head = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, path, packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    central.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00', 'latin1'), common, rest, path]));
    local.push(head);
    offset += head.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(central.length, 8);
  end.writeUInt16LE(central.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...local, directory, end]);
}
