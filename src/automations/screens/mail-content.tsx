/** A mail of an automation: its subject, preview text, sender and wait, and the ways to make it. While people wait it says what happens to them. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { listPlaceholders } from '../../audience/fields/operations.ts';
import { Button } from '../../dashboard/components/button.tsx';
import { type Problems, SelectField, TextField } from '../../dashboard/components/field.tsx';
import { setFlash } from '../../dashboard/flash.ts';
import { ask } from '../../dashboard/operations.ts';
import { languageOf } from '../../dashboard/page.tsx';
import { field } from '../../dashboard/sign-in/fields.ts';
import { viewerOf } from '../../dashboard/signed-in.ts';
import { type Language, useLanguage } from '../../dashboard/words/index.ts';
import { READ } from '../../http/pages/layout.ts';
import { readChoices, type SenderChoice } from '../../single-sends/screens/compose/choices.ts';
import type { Composed, ComposedParams } from '../../single-sends/screens/compose/composed.tsx';
import { findTemplateName, Hints, MailContent, Placeholders } from '../../single-sends/screens/compose/content.tsx';
import { changeMail } from '../operations/changes.ts';
import type { Series, SeriesMail } from '../operations/series.ts';
import { attemptChange, concerningMail, mailAddress, refusalText, sendQuestion } from './changing.tsx';
import { AUTOMATION_MAIL, composedMail, readMail, sendMailPage } from './mail.tsx';

interface Call {
  Params: ComposedParams;
}

export async function mailContentScreen(app: FastifyInstance): Promise<void> {
  const show = async (
    request: FastifyRequest<Call>,
    reply: FastifyReply,
    sent: { given?: MailFields; problems?: Problems; problem?: string } = {},
  ) => {
    const { series, mail } = await readMail(request, request.params);
    const composed = composedMail(request, series, mail);
    const [{ senders }, { contents }, template] = await Promise.all([
      readChoices(request),
      ask(request, listPlaceholders, {}),
      mail.content === 'template' ? findTemplateName(request, mail.template_id) : '',
    ]);
    const { given = storedMail(mail), problems = {}, problem } = sent;
    const content = (
      <Form {...{ series, mail, composed, given, problems, senders, template }} placeholders={contents} />
    );
    return sendMailPage(request, reply, { series, mail, step: 'content', content, problem });
  };

  app.route<Call>({
    method: READ,
    url: `${AUTOMATION_MAIL.route}/content`,
    handler: (request, reply) => show(request, reply),
  });

  app.post<Call>(`${AUTOMATION_MAIL.route}/content`, async (request, reply) => {
    const { series, mail } = await readMail(request, request.params);
    const { utr } = mail;
    const given = givenMail(request);
    const unchanged_since = field(request, 'unchanged_since');
    const language = languageOf(request, viewerOf(request));
    const changed = await attemptChange(request, changeMail, { ...given, utr, unchanged_since }, (effects) =>
      concerningMail(effects, utr),
    );
    if ('asked' in changed)
      return sendQuestion(request, reply, {
        series,
        effects: changed.asked,
        after: series.mails.map((one) => (one.utr === utr ? { utr, ...named(given, one.waiting_type) } : one)),
        action: mailAddress(series.utr, utr),
        fields: { ...given, unchanged_since },
        submit: language.say('automations.save'),
      });
    if ('output' in changed) {
      setFlash(reply, 'good', 'compose.saved');
      return reply.redirect(mailAddress(series.utr, utr), 303);
    }
    const problem = refusalText(request, changed, mail, differences(language, given, mail));
    return show(request, reply.code(changed.status), { given, problems: changed.problems, problem });
  });
}

/** What a form says of a mail, as far as a question about people names it. */
export function named({ subject, waiting_type, waiting_period }: MailFields, otherwise: SeriesMail['waiting_type']) {
  const unit = UNITS.find((one) => one === waiting_type) ?? otherwise;
  return { subject, waiting_type: unit, waiting_period: Number(waiting_period) };
}

function differences(language: Language, given: MailFields, mail: SeriesMail) {
  const stored = storedMail(mail);
  return [
    [language.say('compose.subject'), given.subject, stored.subject],
    [language.say('compose.preheader'), given.preheader, stored.preheader],
    [language.say('automations.wait'), given.waiting_period, stored.waiting_period],
    [language.say('automations.wait.unit'), given.waiting_type, stored.waiting_type],
  ] as const;
}

interface FormProps {
  series: Series;
  mail: SeriesMail;
  composed: Composed;
  given: MailFields;
  problems: Problems;
  senders: readonly SenderChoice[];
  placeholders: readonly string[];
  template: string;
}

function Form({ series, mail, composed, given, problems, senders, placeholders, template }: FormProps) {
  const language = useLanguage();
  return (
    <div class="compose">
      <form method="post" action={mailAddress(series.utr, mail.utr)} class="stack">
        <MailFieldset {...{ given, senders, problems }} isFirst={series.mails[0]?.utr === mail.utr} />
        <Hints subject={mail.subject} preheader={mail.preheader} />
        <Placeholders names={placeholders} />
        <input type="hidden" name="unchanged_since" value={mail.updated_at} />
        <div class="buttons">
          <Button>{language.say('automations.save')}</Button>
        </div>
      </form>
      <div class="stack compose-beside">
        <MailContent mail={composed} template={template} />
      </div>
    </div>
  );
}

/** In the order in which they are chosen from. */
const UNITS = ['instantly', 'hours', 'days'] as const;

/** What a form for a mail has. */
export interface MailFields {
  subject: string;
  preheader: string;
  sender_id: string;
  waiting_type: string;
  waiting_period: string;
}

const storedMail = (mail: SeriesMail): MailFields => ({
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
          options={UNITS.map((value) => ({ value, label: language.say(`automations.wait.${value}`) }))}
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
