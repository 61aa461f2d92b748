/** What requests and answers of the endpoints of forms hold. */
import Type from 'typebox';
import { FORM_LANGUAGES } from '../database/schema/index.ts';
import { MAX_FIELDS } from '../forms/fields.ts';
import { FORM_OFF_CODES } from '../forms/forms.ts';
import {
  choice,
  flag,
  identifier,
  integer,
  line,
  nullable,
  optionalReference,
  reference,
  stamps,
  stringList,
  text,
  zeroOrOne,
} from '../http/requests/schemas.ts';

const MAX_TEXT = 2000;

const FormField = Type.Object({
  name: Type.String({ description: 'The name of the field.' }),
  label: Type.String({ description: 'What the page calls it; empty: its usual name.' }),
  required: { ...zeroOrOne(), description: '1: the form cannot be sent without it.' },
});
export const FormRecord = Type.Object({
  id: integer(),
  name: Type.String({ description: 'For the owner.' }),
  contact_type_id: integer({ description: 'The contact type that people are added to.' }),
  sender_id: integer({ description: 'The sender of the mail that asks for a confirmation.' }),
  segment_id: { ...nullable(integer()), description: 'The segment that people are added to besides; null: none.' },
  language: { ...choice(...FORM_LANGUAGES), description: 'The language of the page and the mail.' },
  is_active: { ...zeroOrOne(), description: '0: switched off.' },
  off_code: {
    ...nullable(choice(...FORM_OFF_CODES)),
    description: 'Why it takes no subscriptions now; null: it does.',
  },
  off_reason: { ...nullable(Type.String()), description: 'The same as a sentence.' },
  url: Type.String({ description: 'The address of its page.' }),
  fields: Type.Array(FormField, { description: 'What it asks for besides the e-mail address.' }),
  group_ids: Type.Array(integer(), { description: 'The unsubscribe groups that people choose from.' }),
  title: Type.String({ description: 'The title of the page and the mail.' }),
  intro: Type.String({ description: 'The text above the fields.' }),
  consent_text: Type.String({ description: 'What people agree to.' }),
  privacy_url: Type.String({ description: 'The address of a privacy policy, linked behind that text; empty: none.' }),
  asks_tracking: {
    ...zeroOrOne(),
    description:
      '1: it also asks whether opens and clicks may be recorded, while the account records those of people who allow it.',
  },
  tracking_text: Type.String({ description: 'What people agree to there.' }),
  button_text: Type.String({ description: 'What its button says.' }),
  mail_subject: Type.String({ description: 'The subject of the mail that asks for a confirmation.' }),
  mail_text: Type.String({ description: 'What that mail says above its button.' }),
  sent_text: Type.String({ description: 'What the page says once it was sent.' }),
  confirmed_text: Type.String({ description: 'What it says to those who have confirmed.' }),
  already_text: Type.String({ description: 'What it says to those who are subscribed already.' }),
  expired_text: Type.String({ description: 'What it says where a link is too old.' }),
  off_text: Type.String({ description: 'What it says while the form takes no subscriptions.' }),
  redirect_url: Type.String({ description: 'Where people are led once they have confirmed; empty: nowhere else.' }),
  shown: integer({ description: 'How often the page was shown.' }),
  sent: integer({ description: 'How many mails asked for a confirmation.' }),
  confirmed: integer({ description: 'How many people confirmed.' }),
  ...stamps,
});

const ownText = () =>
  Type.Optional(text({ maxLength: MAX_TEXT, description: 'Empty: the usual text of the language.' }));
const ownLine = () => Type.Optional(line({ description: 'Empty: the usual text of the language.' }));
const address = (description: string) =>
  Type.Optional(Type.String({ maxLength: MAX_TEXT, format: 'one-line', description }));
const list = (options: { maxItems: number; description: string }) =>
  Type.Optional(Type.Unsafe<string[]>({ ...stringList(options), empty: [] }));

const options = {
  segment_id: optionalReference(),
  language: Type.Optional(choice(...FORM_LANGUAGES)),
  is_active: Type.Optional(flag('0: switched off.')),
  fields: list({
    maxItems: MAX_FIELDS,
    description: 'The names of the fields that are asked for: reserved or custom ones.',
  }),
  labels: list({
    maxItems: MAX_FIELDS,
    description: 'What the page calls them, in the same order; empty: their usual names.',
  }),
  required: list({ maxItems: MAX_FIELDS, description: 'The names of those that must be filled in.' }),
  group_ids: list({ maxItems: 50, description: 'The unsubscribe groups that people choose from.' }),
  title: ownLine(),
  intro: Type.Optional(text({ maxLength: MAX_TEXT, description: 'The text above the fields.' })),
  consent_text: ownText(),
  privacy_url: address('The address of a privacy policy.'),
  asks_tracking: Type.Optional(
    flag(
      '1: ask whether opens and clicks may be recorded; shown only while the account records those of people who allow it.',
    ),
  ),
  tracking_text: ownText(),
  button_text: ownLine(),
  mail_subject: ownLine(),
  mail_text: ownText(),
  sent_text: ownText(),
  confirmed_text: ownText(),
  already_text: ownText(),
  expired_text: ownText(),
  off_text: ownText(),
  redirect_url: address('Where people are led once they have confirmed.'),
};
export const CreateBody = Type.Object({
  name: line({ description: 'For the owner.' }),
  contact_type_id: reference(),
  sender_id: reference(),
  ...options,
});
export const SaveBody = Type.Object({
  id: identifier('The form.'),
  name: Type.Optional(line({ minLength: 1, description: 'For the owner.' })),
  contact_type_id: Type.Optional(reference()),
  sender_id: Type.Optional(reference()),
  ...options,
});
