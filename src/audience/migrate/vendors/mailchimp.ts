/**
 * Mailchimp: an audience export is a ZIP archive with a CSV file for each kind of contact, whose name begins with
 * `subscribed`, `unsubscribed`, `nonsubscribed` or `cleaned` (help article "View or export contacts"; "About cleaned
 * contacts" says that cleaned ones bounced). "Format Guidelines for Your Import File" says that a birthday is
 * month/day, such as 12/24. TIMEZONE is a zone by its IANA name: published exports have -8,-7,America/Los_Angeles under
 * GMTOFF,DSTOFF,TIMEZONE. An account export has these and the templates as HTML ("Export and back up account data").
 */
import { parseJson } from '../../../json.ts';
import {
  columnsOf,
  type ExportedPerson,
  type ExportedTemplate,
  type ExportFile,
  type Ignored,
  type KnownColumns,
  type Leaving,
  type Row,
  readText,
  rowsOf,
  textsOf,
  type Vendor,
  valuesOf,
} from '../export-files.ts';

/** The columns that every audience export has. The time and place of the opt-in are kept as proof of consent. */
const COLUMNS: KnownColumns = {
  'email address': null,
  'first name': 'first_name',
  'last name': 'last_name',
  email_type: null,
  member_rating: null,
  latitude: null,
  longitude: null,
  gmtoff: null,
  dstoff: null,
  timezone: 'time_zone',
  cc: null,
  region: null,
  last_changed: null,
  leid: null,
  euid: null,
  tags: null,
  unsub_time: null,
  unsub_campaign_title: null,
  unsub_campaign_id: null,
  unsub_reason: null,
  unsub_reason_other: null,
  clean_time: null,
  clean_campaign_title: null,
  clean_campaign_id: null,
};

/**
 * The names of files of contacts, with their kind. Files of text message subscribers (`sms`) do not match: they have the same columns, but
 * these contacts did not agree to mail.
 */
const KIND = /(?:^|\/)(subscribed|unsubscribed|nonsubscribed|cleaned|archived|pending)_(?!sms)[^/]*\.csv$/i;
const TEMPLATE = /(?:^|\/)templates?\/(?:.*\/)?([^/]+)\.html?$/i;
const MAX_TEMPLATE_BYTES = 2_000_000;

export const mailchimp: Vendor = {
  title: 'Mailchimp',
  listsField: 'mailchimp_tags',
  writesMonthDay: true,
  used: ['email address', 'tags', 'unsub_time', 'clean_time'],
  async *read(files, ignored) {
    for (const file of files) {
      const kind = KIND.exec(file.name)?.[1]?.toLowerCase() ?? (files.length === 1 ? 'subscribed' : null);
      const template = TEMPLATE.exec(file.name)?.[1];
      if (template !== undefined) yield* templateOf(file, template, ignored);
      else if (kind !== null && /\.csv$/i.test(file.name) && (await columnsOf(file)).has('email address'))
        for await (const row of rowsOf(file)) yield personOf(row, kind, ignored);
      else ignored.files.add(file.name);
    }
  },
};

function personOf(row: Row, kind: string, ignored: Ignored): ExportedPerson {
  return {
    email: row.get('email address') ?? '',
    values: valuesOf(row, COLUMNS, ignored),
    lists: tagsOf(row.get('tags') ?? ''),
    leavings: leavingOf(row, kind),
  };
}

/** Only subscribed contacts get mail; the others unsubscribed or never agreed. */
function leavingOf(row: Row, kind: string): Leaving[] {
  if (kind === 'cleaned' || row.get('clean_time')) return [{ kind: 'bounce' }];
  return kind !== 'subscribed' || row.get('unsub_time') ? [{ kind: 'all' }] : [];
}

/** Parses a cell such as `"VIP","Graz"`. */
function tagsOf(cell: string): string[] {
  const quoted = parseJson(`[${cell}]`);
  return quoted === undefined ? cell.split(',').map((tag) => tag.replaceAll('"', '').trim()) : textsOf(quoted);
}

async function* templateOf(file: ExportFile, name: string, ignored: Ignored): AsyncGenerator<ExportedTemplate> {
  const html = await readText(file, MAX_TEMPLATE_BYTES);
  if (html === null) ignored.files.add(file.name);
  else yield { name, html: replaceTags(html) };
}

/** Replaces merge tags ("Merge tags cheat sheet") by our placeholders; unknown ones stay. */
function replaceTags(html: string): string {
  const placeholders: Readonly<Record<string, string>> = {
    FNAME: '((first_name))',
    LNAME: '((last_name))',
    EMAIL: '((email))',
    UNSUB: '((unsubscribe_preferences))',
    UPDATE_PROFILE: '((unsubscribe_preferences))',
    ARCHIVE: '((web_copy))',
  };
  return html.replaceAll(/\*\|([A-Z_]{1,40})\|\*/g, (tag, name: string) => placeholders[name] ?? tag);
}
