/** Editing an automation: its name and who enters, and its mails in their order, to add, open, move and remove. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../../../../deps.ts';
import { READ } from '../../../../http/pages/layout.ts';
import { readHasCaps } from '../../../../sending-times/screens/cap-field.tsx';
import { type Choices, readChoices } from '../../../../single-sends/screens/compose/choices.ts';
import { type ApiAnswer, ApiClient, refusalOf, refusalText } from '../../../api-client.ts';
import { Button, LinkButton } from '../../../components/button.tsx';
import type { Problems } from '../../../components/field.tsx';
import { Card, Notice, Problem } from '../../../components/surface.tsx';
import { setFlash } from '../../../flash.ts';
import { languageOf, sendPage } from '../../../page.tsx';
import { recordTime } from '../../../record-time.ts';
import { field } from '../../../sign-in/fields.ts';
import { viewerOf } from '../../../signed-in.ts';
import { useLanguage } from '../../../words/index.ts';
import { PersonForecast } from '../person-forecast.tsx';
import { readForecast } from '../records.ts';
import { automationAddress, editAddress } from './addresses.ts';
import { changedMeanwhile } from './changed-meanwhile.ts';
import { type AutomationFields, AutomationFieldset } from './form.tsx';
import { MailList } from './mail-list.tsx';
import { givenFields } from './new.tsx';
import { concernsPeople, sendQuestion } from './question.tsx';
import { type Effects, readSeries, type Series } from './series.ts';

const CONFLICT = 409;

interface ByUtr {
  Params: { utr: string };
  Querystring: { email?: string };
}
type Answer = ApiAnswer<{ effects: Effects }>;

export async function editScreen(app: FastifyInstance, { clock }: Pick<Deps, 'clock'>): Promise<void> {
  const show = async (
    request: FastifyRequest<ByUtr>,
    reply: FastifyReply,
    sent: { given?: AutomationFields; problems?: Problems; problem?: string } = {},
  ) => {
    const viewer = viewerOf(request);
    const api = new ApiClient(app, request);
    const { email = '' } = request.query;
    const series = await readSeries(api, request.params.utr);
    const [choices, asked, hasCaps] = await Promise.all([
      readChoices(request),
      readForecast(api, series.utr, email),
      readHasCaps(request),
    ]);
    const frame = { title: series.automation_name, section: 'automations', action: <Back utr={series.utr} /> } as const;
    const content = (
      <>
        <Editing {...{ series, choices, hasCaps }} {...sent} />
        <PersonForecast email={email} asked={asked} now={clock.now()} isTrial={series.is_live === 0} />
      </>
    );
    return sendPage(request, reply, viewer, frame, content);
  };

  app.route<ByUtr>({ method: READ, url: '/automations/:utr/edit', handler: (request, reply) => show(request, reply) });

  app.post<ByUtr>('/automations/:utr/edit', async (request, reply) => {
    const api = new ApiClient(app, request);
    const { utr } = request.params;
    const given = givenFields(request);
    const changes = { ...given, utr, unchanged_since: field(request, 'unchanged_since') };
    const save = (more = {}): Promise<Answer> => api.send('POST', '/automations/update', { ...changes, ...more });
    const isSure = field(request, 'sure') === '1';
    let answer = await save(isSure ? {} : { dry_run: 1 });
    if (answer.message !== undefined && !isSure) {
      const series = await readSeries(api, utr);
      const isOther =
        given.automation_for !== series.automation_for || Number(given.exit_criteria) !== series.exit_criteria;
      if (isOther && answer.message.effects.leaving > 0) {
        const submit = languageOf(request, viewerOf(request)).say('automations.save');
        const effects = { people: [], leaving: answer.message.effects.leaving };
        const fields = { ...given, unchanged_since: changes.unchanged_since };
        return sendQuestion(request, reply, { series, effects, action: editAddress(utr), fields, submit });
      }
      answer = await save();
    }
    if (answer.message !== undefined) {
      setFlash(reply, 'good', 'compose.saved');
      return reply.redirect(editAddress(utr), 303);
    }
    reply.code(answer.status);
    const refusal = refusalOf(answer);
    if (refusal.problem === '') return show(request, reply, { given, ...refusal });
    const language = languageOf(request, viewerOf(request));
    const now = await readSeries(api, utr);
    const problem =
      answer.status === CONFLICT
        ? changedMeanwhile(language, now, [[language.say('compose.name'), given.automation_name, now.automation_name]])
        : refusalText(answer);
    return show(request, reply, { given, problem });
  });

  app.post<ByUtr>('/automations/:utr/order', async (request, reply) => {
    const api = new ApiClient(app, request);
    const { utr } = request.params;
    const series = await readSeries(api, utr);
    const after = moved(series.mails, field(request, 'mail'), field(request, 'where') === 'up' ? -1 : 1);
    const since = field(request, 'unchanged_since');
    const order = { utr, mails: after.map((mail) => mail.utr), unchanged_since: since };
    const send = (more = {}): Promise<Answer> =>
      api.send('POST', '/automations/schedule/reorder', { ...order, ...more });
    const isSure = field(request, 'sure') === '1';
    let answer = await send(isSure ? {} : { dry_run: 1 });
    if (answer.message !== undefined && !isSure) {
      const { effects } = answer.message;
      if (concernsPeople({ ...effects, leaving: 0 })) {
        const fields = { mail: field(request, 'mail'), where: field(request, 'where'), unchanged_since: since };
        const submit = languageOf(request, viewerOf(request)).say('automations.move');
        const action = `${automationAddress(utr)}/order`;
        const asked = { ...effects, leaving: 0 };
        return sendQuestion(request, reply, { series, effects: asked, after, action, fields, submit });
      }
      answer = await send();
    }
    if (answer.message === undefined) {
      const language = languageOf(request, viewerOf(request));
      const problem = answer.status === CONFLICT ? changedMeanwhile(language, series, []) : refusalText(answer);
      return show(request, reply.code(answer.status), { problem });
    }
    return reply.redirect(`${editAddress(utr)}#mails`, 303);
  });
}

/** The mails with one of them moved by one place. */
function moved(mails: Series['mails'], utr: string, by: -1 | 1): Series['mails'] {
  const at = mails.findIndex((mail) => mail.utr === utr);
  const other = mails[at + by];
  const mail = mails[at];
  if (mail === undefined || other === undefined) return mails;
  return mails.map((one) => (one === mail ? other : one === other ? mail : one));
}

function Back({ utr }: { utr: string }) {
  return (
    <LinkButton look="plain" href={automationAddress(utr)}>
      {useLanguage().say('automations.back')}
    </LinkButton>
  );
}

interface EditingProps {
  series: Series;
  choices: Choices;
  hasCaps: boolean;
  given?: AutomationFields;
  problems?: Problems;
  problem?: string;
}

function Editing({ series, choices, hasCaps, given, problems = {}, problem }: EditingProps) {
  const language = useLanguage();
  const saved = recordTime(series.updated_at);
  const stored = {
    automation_name: series.automation_name,
    automation_for: series.automation_for,
    unsubscribe_group_id: String(series.unsubscribe_group_id),
    exit_criteria: String(series.exit_criteria),
    ...(hasCaps && { ignores_caps: String(series.ignores_caps) }),
  };
  return (
    <>
      <Problem>{problem}</Problem>
      {series.is_live === 1 && <Notice>{language.say('automations.isLive', { count: series.people.waiting })}</Notice>}
      <Card title={language.say('automations.steps')}>
        <MailList series={series} />
      </Card>
      <Card title={language.say('automations.settings')}>
        <form method="post" action={editAddress(series.utr)} class="narrow">
          <AutomationFieldset given={given ?? stored} choices={choices} problems={problems} />
          <input type="hidden" name="unchanged_since" value={series.updated_at} />
          <div class="buttons">
            <Button>{language.say('automations.save')}</Button>
            {saved !== null && (
              <span class="small quiet-text">
                {language.say('compose.savedAt', { time: language.dateTime(saved) })}
              </span>
            )}
          </div>
        </form>
      </Card>
    </>
  );
}
