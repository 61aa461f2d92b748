/** Adding a mail to an automation, at the end or before another, with the template it begins with, and removing one. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Button, LinkButton } from '../../dashboard/components/button.tsx';
import { type Problems, SelectField } from '../../dashboard/components/field.tsx';
import { Card, Notice, Problem } from '../../dashboard/components/surface.tsx';
import { setFlash } from '../../dashboard/flash.ts';
import { ask, attempt } from '../../dashboard/operations.ts';
import { languageOf, sendPage } from '../../dashboard/page.tsx';
import { field } from '../../dashboard/sign-in/fields.ts';
import { viewerOf } from '../../dashboard/signed-in.ts';
import { useLanguage } from '../../dashboard/words/index.ts';
import { withAnnouncedWork } from '../../database/write-turns.ts';
import { READ } from '../../http/pages/layout.ts';
import { readChoices, type SenderChoice } from '../../single-sends/screens/compose/choices.ts';
import type { ComposedParams } from '../../single-sends/screens/compose/composed.tsx';
import { type ListedTemplate, listTemplates } from '../../templates/operations.ts';
import { addMail, removeMail } from '../operations/changes.ts';
import { readSeries, type Series } from '../operations/series.ts';
import {
  attemptChange,
  automationAddress,
  concerningMail,
  editAddress,
  mailAddress,
  refusalText,
  sendQuestion,
} from './changing.tsx';
import { AUTOMATION_MAIL, readMail } from './mail.tsx';
import { givenMail, type MailFields, MailFieldset, named } from './mail-content.tsx';

const DAYS = '1';

interface Call {
  Params: { utr: string };
  Querystring: { before?: string };
}
interface NewMail extends MailFields {
  template_id: string;
  before: string;
}
type Templates = readonly ListedTemplate[];

export async function mailScreens(app: FastifyInstance): Promise<void> {
  const show = async (
    request: FastifyRequest<Call>,
    reply: FastifyReply,
    sent: { given?: NewMail; problems?: Problems; problem?: string } = {},
  ) => {
    const viewer = viewerOf(request);
    const [{ series }, { senders }, templates] = await Promise.all([
      ask(request, readSeries, request.params),
      readChoices(request),
      ask(request, listTemplates, { built_in: 1 }),
    ]);
    const given = sent.given ?? begin(series, senders, request.query.before ?? '');
    const title = languageOf(request, viewer).say('automations.addMail');
    const content = <AddMail {...{ series, senders, templates, ...sent, given }} />;
    return sendPage(request, reply, viewer, { title, section: 'automations' }, content);
  };

  app.route<Call>({
    method: READ,
    url: '/automations/:utr/mails/new',
    handler: (request, reply) => show(request, reply),
  });

  app.post<Call>('/automations/:utr/mails/new', async (request, reply) => {
    const { utr } = request.params;
    const given = {
      ...givenMail(request),
      template_id: field(request, 'template_id'),
      before: field(request, 'before'),
    };
    const { series } = await ask(request, readSeries, { utr });
    const unchanged_since = field(request, 'unchanged_since');
    const known = new Set(series.mails.map((mail) => mail.utr));
    const added = await attemptChange(request, addMail, { ...given, utr, unchanged_since }, ({ people }) => ({
      people: people.filter(({ to }) => to !== null && !known.has(to)),
      leaving: 0,
    }));
    if ('asked' in added) {
      const mail = { utr: added.asked.people[0]?.to ?? '', ...named(given, 'days') };
      const at = given.before === '' ? series.mails.length : series.mails.findIndex((one) => one.utr === given.before);
      return sendQuestion(request, reply, {
        series,
        effects: added.asked,
        after: [...series.mails.slice(0, at), mail, ...series.mails.slice(at)],
        action: `${automationAddress(utr)}/mails/new`,
        fields: { ...given, unchanged_since },
        submit: languageOf(request, viewerOf(request)).say('automations.addMail'),
      });
    }
    if ('output' in added) return reply.redirect(mailAddress(utr, added.output.utr ?? ''), 303);
    // An automation that is full is refused at its utr, for which the form has no field.
    const problem = refusalText(request, added, series) || (added.problems.utr ?? []).join(' ');
    return show(request, reply.code(added.status), { given, problems: added.problems, problem });
  });

  app.route<{ Params: ComposedParams }>({
    method: READ,
    url: `${AUTOMATION_MAIL.route}/remove`,
    handler: async (request, reply) => {
      const { series, mail } = await readMail(request, request.params);
      // It changes nothing in the end, but may wait for people to be moved.
      const tried = await withAnnouncedWork(() => ask(request, removeMail, { utr: mail.utr, dry_run: 1 }));
      const language = languageOf(request, viewerOf(request));
      return sendQuestion(request, reply, {
        series,
        effects: concerningMail(tried.effects, mail.utr),
        after: series.mails.filter((one) => one !== mail),
        action: mailAddress(series.utr, mail.utr, 'remove'),
        fields: { unchanged_since: mail.updated_at },
        submit: language.say('automations.remove.sure'),
        what: language.say('automations.remove.what', { subject: mail.subject }),
      });
    },
  });

  app.post<{ Params: ComposedParams }>(`${AUTOMATION_MAIL.route}/remove`, async (request, reply) => {
    const { series, mail } = await readMail(request, request.params);
    const given = { utr: mail.utr, unchanged_since: field(request, 'unchanged_since') };
    const removed = await attempt(request, removeMail, given);
    if ('output' in removed) setFlash(reply, 'good', 'automations.removed', { subject: mail.subject });
    else setFlash(reply, 'bad', 'automations.refused', { reason: refusalText(request, removed, mail) });
    return reply.redirect(editAddress(series.utr), 303);
  });
}

/** A new mail comes from the sender of the one before, the first at once and each other a day later. */
function begin({ mails }: Series, senders: readonly SenderChoice[], before: string): NewMail {
  const sender = mails.at(-1)?.sender_id ?? senders.find(({ is_verified }) => is_verified === 1)?.id ?? senders[0]?.id;
  const isFirst = mails.length === 0 || mails[0]?.utr === before;
  return {
    subject: '',
    preheader: '',
    sender_id: String(sender ?? ''),
    waiting_type: isFirst ? 'instantly' : 'days',
    waiting_period: DAYS,
    template_id: '',
    before,
  };
}

interface AddMailProps {
  series: Series;
  senders: readonly SenderChoice[];
  templates: Templates;
  given: NewMail;
  problems?: Problems;
  problem?: string;
}

function AddMail({ series, senders, templates, given, problems = {}, problem }: AddMailProps) {
  const language = useLanguage();
  const isFirst = series.mails.length === 0 || series.mails[0]?.utr === given.before;
  // A live automation would send it, and refuses one without content.
  const blank = series.is_live === 1 ? undefined : templates.find(({ is_blank }) => is_blank === 1);
  const before = series.mails.find(({ utr }) => utr === given.before);
  return (
    <Card>
      <Problem>{problem}</Problem>
      {series.is_live === 1 && <Notice tone="warn">{language.say('automations.add.isLive')}</Notice>}
      {before !== undefined && <p>{language.say('automations.add.before', { subject: before.subject })}</p>}
      <form method="post" action={`${automationAddress(series.utr)}/mails/new`} class="narrow">
        <MailFieldset {...{ given, senders, problems, isFirst }} />
        <SelectField
          name="template_id"
          label={language.say('automations.add.template')}
          hint={language.say('automations.add.template.hint')}
          value={given.template_id}
          options={[
            ...(blank === undefined ? [] : [{ value: String(blank.id), label: language.say('automations.add.blank') }]),
            ...templates
              .filter(({ is_blank }) => is_blank === 0)
              .map(({ id, template_name: label }) => ({ value: String(id), label })),
          ]}
          problems={problems}
        />
        <input type="hidden" name="before" value={given.before} />
        <input type="hidden" name="unchanged_since" value={series.updated_at} />
        <div class="buttons">
          <Button>{language.say('automations.addMail')}</Button>
          <LinkButton look="quiet" href={editAddress(series.utr)}>
            {language.say('confirm.cancel')}
          </LinkButton>
        </div>
      </form>
    </Card>
  );
}
