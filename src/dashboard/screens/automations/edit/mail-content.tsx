/** A mail of an automation: its subject, preview text, sender and wait, and the ways to make it. While people wait it says what happens to them. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { READ } from '../../../../http/pages/layout.ts';
import { readChoices, type SenderChoice } from '../../../../single-sends/screens/compose/choices.ts';
import type { Composed, ComposedParams } from '../../../../single-sends/screens/compose/composed.tsx';
import {
  findTemplateName,
  Hints,
  MailContent,
  Placeholders,
} from '../../../../single-sends/screens/compose/content.tsx';
import { type ApiAnswer, ApiClient, refusalOf, refusalText } from '../../../api-client.ts';
import { Button } from '../../../components/button.tsx';
import type { Problems } from '../../../components/field.tsx';
import { setFlash } from '../../../flash.ts';
import { languageOf } from '../../../page.tsx';
import { field } from '../../../sign-in/fields.ts';
import { viewerOf } from '../../../signed-in.ts';
import { type Language, useLanguage } from '../../../words/index.ts';
import { mailAddress } from './addresses.ts';
import { changedMeanwhile } from './changed-meanwhile.ts';
import { AUTOMATION_MAIL, composedMail, readMail, sendMailPage } from './mail.tsx';
import { givenMail, type MailFields, MailFieldset, storedMail } from './mail-fields.tsx';
import { concernsPeople, sendQuestion } from './question.tsx';
import type { Effects, Series, SeriesMail } from './series.ts';

const CONFLICT = 409;

interface Call {
  Params: ComposedParams;
}

export async function mailContentScreen(app: FastifyInstance): Promise<void> {
  const show = async (
    request: FastifyRequest<Call>,
    reply: FastifyReply,
    sent: { given?: MailFields; problems?: Problems; problem?: string } = {},
  ) => {
    const api = new ApiClient(app, request);
    const { automation = '', utr } = request.params;
    const { series, mail } = await readMail(api, automation, utr);
    const composed = composedMail(request, series, mail);
    const [{ senders }, { contents }, template] = await Promise.all([
      readChoices(request),
      api.get<{ contents: string[] }>('/get-dynamic/content'),
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
    const api = new ApiClient(app, request);
    const { automation = '', utr } = request.params;
    const { series, mail } = await readMail(api, automation, utr);
    const given = givenMail(request);
    const since = field(request, 'unchanged_since');
    const save = (more = {}): Promise<ApiAnswer<{ effects: Effects }>> =>
      api.send('POST', '/automations/schedule/update', { ...given, utr: mail.utr, unchanged_since: since, ...more });
    const language = languageOf(request, viewerOf(request));
    const isSure = field(request, 'sure') === '1';
    let answer = await save(isSure ? {} : { dry_run: 1 });
    if (answer.message !== undefined && !isSure) {
      const effects = concerningMail(answer.message.effects, mail.utr);
      if (concernsPeople(effects)) {
        const after = series.mails.map((one) => (one.utr === mail.utr ? { ...one, ...changed(given, one) } : one));
        const fields = { ...given, unchanged_since: since };
        const action = mailAddress(series.utr, mail.utr);
        return sendQuestion(request, reply, {
          series,
          effects,
          after,
          action,
          fields,
          submit: language.say('automations.save'),
        });
      }
      answer = await save();
    }
    if (answer.message !== undefined) {
      setFlash(reply, 'good', 'compose.saved');
      return reply.redirect(mailAddress(series.utr, mail.utr), 303);
    }
    reply.code(answer.status);
    const refusal = refusalOf(answer);
    if (refusal.problem === '') return show(request, reply, { given, ...refusal });
    const isChanged = answer.status === CONFLICT && since !== mail.updated_at;
    const problem = isChanged
      ? changedMeanwhile(language, mail, differences(language, given, mail))
      : refusalText(answer);
    return show(request, reply, { given, problem });
  });
}

/** The effects on those who wait for this mail. */
export function concerningMail({ people }: Effects, utr: string): Effects {
  return { people: people.filter(({ from, to }) => from === utr || to === utr), leaving: 0 };
}

/** What the form changes of a mail, as far as the statement about people needs it. */
export function changed(given: MailFields, { waiting_type }: Pick<SeriesMail, 'waiting_type'>) {
  const unit = (['instantly', 'hours', 'days'] as const).find((one) => one === given.waiting_type) ?? waiting_type;
  return { subject: given.subject, waiting_type: unit, waiting_period: Number(given.waiting_period) };
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
