/** Operations for the settings of the account's mails: the check, the language, the link parameters, and keeping sent mails (additions). */
import Type, { type Static } from 'typebox';
import { languageCode } from '../../audience/contacts/contact-languages.ts';
import { changeMailRules, readMailRule } from '../../database/accounts.ts';
import { inTransaction } from '../../database/transaction.ts';
import { messages } from '../../errors/field-errors.ts';
import { flag, line, optionalFlag, zeroOrOne } from '../../http/requests/schemas.ts';
import { operation } from '../../operations/operation.ts';
import { auditBy } from '../../users/audit.ts';
import { asLinkRules } from '../operations/drafts.ts';

const utm = (description: string) => Type.Optional(line({ description }));

const Settings = Type.Object(
  {
    stops_errors: zeroOrOne(
      '1: a single send that the API queued is held with check_failed if the check finds an error in its e-mail. 0: the report of the single send records what the check found.',
    ),
    language: Type.String({
      description: 'The language of the e-mails, and of contacts whose language is unknown: an ISO 639-1 code.',
    }),
    utm_source: Type.String({ description: 'utm_source of the links in e-mails; empty: links get no parameters.' }),
    utm_medium: Type.String({ description: 'utm_medium of the links; empty: links get no utm_medium.' }),
    utm_campaign: Type.String({
      description: 'utm_campaign of the links; empty: links get the name of the single send.',
    }),
    utm_content: zeroOrOne(
      '1: utm_content is the name that the block with the link has in the designer, or else the text of the link.',
    ),
    keeps_sent_mails: zeroOrOne(
      '1: e-mails are kept as they were sent for 90 days, so that GET /deliveries/mail and GET /transactional/mail return their exact bytes. 0: e-mails that leave from now on are not kept.',
    ),
  },
  { description: 'The settings.' },
);
export type MailSettings = Static<typeof Settings>;

export const readMailSettings = operation({
  name: 'Read the settings of e-mails (addition)',
  role: 'viewer',
  input: Type.Object({}),
  output: Type.Object({ settings: Settings }),
  run({ db, accountId }): { settings: MailSettings } {
    const rules = readMailRule(db, accountId, 'link_rules');
    const { source = '', medium = '', campaign = '', content = 0 } = rules ?? {};
    return {
      settings: {
        stops_errors: readMailRule(db, accountId, 'stops_errors'),
        language: readMailRule(db, accountId, 'mail_language'),
        utm_source: source,
        utm_medium: medium,
        utm_campaign: campaign,
        utm_content: content,
        keeps_sent_mails: readMailRule(db, accountId, 'keeps_sent_mails'),
      },
    };
  },
});

export const changeMailSettings = operation({
  name: 'Change the settings of e-mails (addition)',
  description:
    'Absent parameters keep their value. The check and the link parameters apply to single sends launched from now on, keeps_sent_mails to e-mails that leave from now on.',
  role: 'owner',
  input: Type.Object({
    stops_errors: Type.Optional(
      flag('1: a single send that the API queued is held if the check finds an error in its e-mail.'),
    ),
    language: Type.Optional(line({ description: 'The language of the e-mails: an ISO 639-1 code, a tag or a name.' })),
    utm_source: utm(
      'utm_source of the links in e-mails. If it is present, all four link parameters are replaced; if it is empty, links get no parameters.',
    ),
    utm_medium: utm('utm_medium of the links, such as email. It is used only together with utm_source.'),
    utm_campaign: utm(
      'utm_campaign of the links; empty: links get the name of the single send. It is used only together with utm_source.',
    ),
    utm_content: optionalFlag(
      '1: utm_content is the name that the block with the link has in the designer, or else the text of the link. It is used only together with utm_source.',
    ),
    keeps_sent_mails: Type.Optional(flag('1: e-mails are kept as they were sent for 90 days.')),
  }),
  check(_context, { language }, errors) {
    if (language !== undefined && languageCode(language) === null)
      errors.add('language', messages.selected('language'));
  },
  run(context, { stops_errors, language, keeps_sent_mails, ...fields }) {
    const { utm_source } = fields;
    const mail_language = language === undefined ? null : languageCode(language);
    inTransaction(context.db, () => {
      changeMailRules(context.db, context.accountId, {
        ...(stops_errors !== undefined && { stops_errors }),
        ...(mail_language !== null && { mail_language }),
        ...(keeps_sent_mails !== undefined && { keeps_sent_mails }),
        ...(utm_source !== undefined && { link_rules: utm_source === '' ? null : asLinkRules(fields) }),
      });
      auditBy(context, 'mail_settings_changed');
    });
  },
});
