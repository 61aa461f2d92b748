/** Adding a mail to an automation, at the end or before another, with the template it begins with. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { READ } from '../../../../http/pages/layout.ts';
import { readChoices, type SenderChoice } from '../../../../single-sends/screens/compose/choices.ts';
import { type ListedTemplate, listTemplates } from '../../../../templates/operations.ts';
import { type ApiAnswer, ApiClient, refusalOf, refusalText } from '../../../api-client.ts';
import { Button, LinkButton } from '../../../components/button.tsx';
import { type Problems, SelectField } from '../../../components/field.tsx';
import { Card, Notice, Problem } from '../../../components/surface.tsx';
import { ask } from '../../../operations.ts';
import { languageOf, sendPage } from '../../../page.tsx';
import { field } from '../../../sign-in/fields.ts';
import { viewerOf } from '../../../signed-in.ts';
import { useLanguage } from '../../../words/index.ts';
import { automationAddress, editAddress, mailAddress } from './addresses.ts';
import { changedMeanwhile } from './changed-meanwhile.ts';
import { changed } from './mail-content.tsx';
import { givenMail, type MailFields, MailFieldset } from './mail-fields.tsx';
import { concernsPeople, sendQuestion } from './question.tsx';
import { type Effects, readSeries, type Series } from './series.ts';

const CONFLICT = 409;
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

export async function addMailScreen(app: FastifyInstance): Promise<void> {
  const show = async (
    request: FastifyRequest<Call>,
    reply: FastifyReply,
    sent: { given?: NewMail; problems?: Problems; problem?: string } = {},
  ) => {
    const viewer = viewerOf(request);
    const api = new ApiClient(app, request);
    const series = await readSeries(api, request.params.utr);
    const [{ senders }, templates] = await Promise.all([
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
    const api = new ApiClient(app, request);
    const { utr } = request.params;
    const given = {
      ...givenMail(request),
      template_id: field(request, 'template_id'),
      before: field(request, 'before'),
    };
    const series = await readSeries(api, utr);
    const since = field(request, 'unchanged_since');
    const add = (more = {}): Promise<ApiAnswer<{ utr: string | null; effects: Effects }>> =>
      api.send('POST', '/automations/schedule/add', { ...given, utr, unchanged_since: since, ...more });
    const language = languageOf(request, viewerOf(request));
    const isSure = field(request, 'sure') === '1';
    let answer = await add(isSure ? {} : { dry_run: 1 });
    if (answer.message !== undefined && !isSure) {
      const known = new Set(series.mails.map((mail) => mail.utr));
      const people = answer.message.effects.people.filter(({ to }) => to !== null && !known.has(to));
      if (concernsPeople({ people, leaving: 0 })) {
        const added = people[0]?.to ?? '';
        const mail = { ...series.mails[0], ...changed(given, { waiting_type: 'days' }), utr: added };
        const at =
          given.before === '' ? series.mails.length : series.mails.findIndex((one) => one.utr === given.before);
        const after = withMail(series, mail, at);
        const fields = { ...given, unchanged_since: since };
        const action = `${automationAddress(utr)}/mails/new`;
        const submit = language.say('automations.addMail');
        return sendQuestion(request, reply, { series, effects: { people, leaving: 0 }, after, action, fields, submit });
      }
      answer = await add();
    }
    if (answer.message?.utr) return reply.redirect(mailAddress(utr, answer.message.utr), 303);
    reply.code(answer.status);
    const refusal = refusalOf(answer);
    if (refusal.problem === '') return show(request, reply, { given, ...refusal });
    const isChanged = answer.status === CONFLICT && since !== series.updated_at;
    return show(request, reply, {
      given,
      problem: isChanged ? changedMeanwhile(language, series, []) : refusalText(answer),
    });
  });
}

/** The mails with a new one at a place. Of the new one only what a statement about people needs is known. */
function withMail(series: Series, mail: Partial<Series['mails'][number]>, at: number): Series['mails'] {
  const added: Series['mails'][number] = {
    utr: '',
    subject: '',
    preheader: '',
    sender_id: 0,
    template_id: 0,
    content: 'none',
    html_size: 0,
    updated_at: series.updated_at,
    changed_by: null,
    waiting_type: 'days',
    waiting_period: 1,
    design_url: '',
    ...mail,
  };
  return [...series.mails.slice(0, at), added, ...series.mails.slice(at)];
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
