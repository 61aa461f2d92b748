/** The fields of a mail of an automation: subject, preview text, sender and how long it waits. */

import type { FastifyRequest } from 'fastify';
import type { SenderChoice } from '../../../../single-sends/screens/compose/choices.ts';
import { type Problems, SelectField, TextField } from '../../../components/field.tsx';
import { field } from '../../../sign-in/fields.ts';
import { useLanguage } from '../../../words/index.ts';
import { type SeriesMail, WAITING_TYPES } from './series.ts';

/** What a form for a mail has. */
export interface MailFields {
  subject: string;
  preheader: string;
  sender_id: string;
  waiting_type: string;
  waiting_period: string;
}

export const storedMail = (mail: SeriesMail): MailFields => ({
  subject: mail.subject,
  preheader: mail.preheader,
  sender_id: String(mail.sender_id),
  waiting_type: mail.waiting_type,
  waiting_period: String(mail.waiting_period),
});

/** The fields of a form that was sent. */
export function givenMail(request: FastifyRequest): MailFields {
  const waiting_type = field(request, 'waiting_type');
  const period = field(request, 'waiting_period').trim();
  return {
    subject: field(request, 'subject').trim(),
    preheader: field(request, 'preheader').trim(),
    sender_id: field(request, 'sender_id'),
    waiting_type,
    // A mail that comes at once waits for nothing, whatever the field says.
    waiting_period: waiting_type === 'instantly' ? period || '1' : period,
  };
}

export function MailFieldset({
  given,
  senders,
  problems,
  isFirst,
}: {
  given: MailFields;
  senders: readonly SenderChoice[];
  problems: Problems;
  /** Whether it is the first of its automation, which waits from the entry. */
  isFirst: boolean;
}) {
  const language = useLanguage();
  const text = { maxLength: 255, autocomplete: 'off', 'data-takes-placeholders': true, problems } as const;
  return (
    <>
      <TextField name="subject" label={language.say('compose.subject')} value={given.subject} required {...text} />
      <TextField
        name="preheader"
        label={language.say('compose.preheader')}
        hint={language.say('compose.preheader.hint')}
        value={given.preheader}
        {...text}
      />
      <div class="fields-in-row">
        <TextField
          name="waiting_period"
          type="number"
          min={1}
          max={10_000}
          label={language.say('automations.wait')}
          hint={language.say(isFirst ? 'automations.wait.sinceEntry' : 'automations.wait.sinceMail')}
          value={given.waiting_period}
          problems={problems}
        />
        <SelectField
          name="waiting_type"
          label={language.say('automations.wait.unit')}
          value={given.waiting_type}
          options={WAITING_TYPES.map((value) => ({ value, label: language.say(`automations.wait.${value}`) }))}
          problems={problems}
        />
      </div>
      {senders.length === 0 ? (
        <p>
          {language.say('compose.sender.none')} <a href="/settings/senders">{language.say('compose.sender.add')}</a>
        </p>
      ) : (
        <SelectField
          name="sender_id"
          label={language.say('compose.sender')}
          value={given.sender_id}
          options={senders.map(({ id, from_name: name, from_email: email, is_verified: isVerified }) => {
            const sender = `${name} <${email}>`;
            return {
              value: String(id),
              label: isVerified === 1 ? sender : language.say('compose.sender.unverified', { sender }),
            };
          })}
          problems={problems}
        />
      )}
    </>
  );
}
