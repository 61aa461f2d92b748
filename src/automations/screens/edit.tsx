/** Creating and editing an automation: its name and trigger, and its mails in their order, to add, open, move and remove. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { listNames } from '../../audience/segments/operations.ts';
import { type Choices, readChoices } from '../../campaigns/screens/compose/step.tsx';
import { pageRoute } from '../../http/pages/layout.ts';
import type { Deps } from '../../operations/deps.ts';
import { CapField, readHasCaps } from '../../senders/sending-times/screens/times.tsx';
import { Button, LinkButton } from '../../ui/components/button.tsx';
import { CheckField, type Problems, SelectField, TextField } from '../../ui/components/field.tsx';
import { Card, Notice, Problem } from '../../ui/components/surface.tsx';
import { setFlash } from '../../ui/flash.ts';
import { ask, attempt, problemsAt, sentenceOf } from '../../ui/operations.ts';
import { languageOf, sendPage } from '../../ui/page.tsx';
import { recordTime } from '../../ui/record-time.ts';
import { viewerOf } from '../../ui/signed-in.ts';
import { useLanguage } from '../../ui/words/index.ts';
import { field, texts } from '../../users/screens/sign-in/fields.ts';
import { createAutomation, readSeries, type Series, type SeriesMail } from '../operations/automations.ts';
import { changeAutomation, orderAutomation } from '../operations/changes.ts';
import { Wait } from './automation.tsx';
import {
  attemptChange,
  automationAddress,
  BackToAutomation,
  editAddress,
  mailAddress,
  refusalText,
  sendQuestion,
} from './changing.tsx';
import { PersonForecast, readForecast } from './people.tsx';

interface ByUtr {
  Params: { utr: string };
  Querystring: { email?: string };
}

export async function editScreen(app: FastifyInstance, { clock }: Pick<Deps, 'clock'>): Promise<void> {
  const show = async (
    request: FastifyRequest<ByUtr>,
    reply: FastifyReply,
    sent: { given?: AutomationFields; problems?: Problems; problem?: string } = {},
  ) => {
    const [email = ''] = texts(request.query.email);
    const { series } = await ask(request, readSeries, { utr: request.params.utr });
    const [choices, asked, hasCaps, { events }] = await Promise.all([
      readChoices(request),
      readForecast(request, series.utr, email),
      readHasCaps(request),
      ask(request, listNames, {}),
    ]);
    const frame = {
      title: series.automation_name,
      section: 'automations',
      action: <BackToAutomation utr={series.utr} />,
    } as const;
    const content = (
      <>
        <Editing {...{ series, choices, hasCaps, events }} {...sent} />
        <PersonForecast email={email} asked={asked} now={clock.now()} isTrial={series.is_live === 0} />
      </>
    );
    return sendPage(request, reply, viewerOf(request), frame, content);
  };

  pageRoute<ByUtr>(app, '/automations/:utr/edit', (request, reply) => show(request, reply));

  app.post<ByUtr>('/automations/:utr/edit', async (request, reply) => {
    const { utr } = request.params;
    const given = givenFields(request);
    const unchanged_since = field(request, 'unchanged_since');
    const language = languageOf(request, viewerOf(request));
    const { series } = await ask(request, readSeries, { utr });
    const isOther =
      given.automation_for !== series.automation_for || Number(given.exit_criteria) !== series.exit_criteria;
    const changed = await attemptChange(request, changeAutomation, { ...given, utr, unchanged_since }, (effects) => ({
      people: [],
      leaving: isOther ? effects.leaving : 0,
    }));
    if ('asked' in changed)
      return sendQuestion(request, reply, {
        series,
        effects: changed.asked,
        action: editAddress(utr),
        fields: { ...given, unchanged_since },
        submit: language.say('compose.save'),
      });
    if ('output' in changed) {
      setFlash(reply, 'good', 'compose.saved');
      return reply.redirect(editAddress(utr), 303);
    }
    const names = [language.say('compose.name'), given.automation_name, series.automation_name] as const;
    const problem = refusalText(request, changed, series, [names]);
    return show(request, reply.code(changed.status), { given, problems: changed.problems, problem });
  });

  app.post<ByUtr>('/automations/:utr/order', async (request, reply) => {
    const { utr } = request.params;
    const { series } = await ask(request, readSeries, { utr });
    const fields = {
      mail: field(request, 'mail'),
      where: field(request, 'where'),
      unchanged_since: field(request, 'unchanged_since'),
    };
    const after = moved(series.mails, fields.mail, fields.where === 'up' ? -1 : 1);
    const order = { utr, mails: after.map((mail) => mail.utr), unchanged_since: fields.unchanged_since };
    const ordered = await attemptChange(request, orderAutomation, order, ({ people }) => ({ people, leaving: 0 }));
    if ('asked' in ordered)
      return sendQuestion(request, reply, {
        series,
        effects: ordered.asked,
        after,
        action: `${automationAddress(utr)}/order`,
        fields,
        submit: languageOf(request, viewerOf(request)).say('automations.move'),
      });
    if ('output' in ordered) return reply.redirect(`${editAddress(utr)}#mails`, 303);
    const problem = refusalText(request, ordered, series) || sentenceOf(ordered);
    return show(request, reply.code(ordered.status), { problem });
  });
}

/** Returns the mails with one of them moved by one place. */
function moved(mails: readonly SeriesMail[], utr: string, by: -1 | 1): readonly SeriesMail[] {
  const at = mails.findIndex((mail) => mail.utr === utr);
  const [mail, other] = [mails[at], mails[at + by]];
  if (mail === undefined || other === undefined) return mails;
  return mails.map((one) => (one === mail ? other : one === other ? mail : one));
}

interface EditingProps {
  series: Series;
  choices: Choices;
  hasCaps: boolean;
  /** The names of events to choose from. */
  events: readonly string[];
  given?: AutomationFields;
  problems?: Problems;
  problem?: string;
}

function Editing({ series, choices, hasCaps, events, given, problems = {}, problem }: EditingProps) {
  const language = useLanguage();
  const saved = recordTime(series.updated_at);
  const stored = {
    automation_name: series.automation_name,
    automation_for: series.automation_for,
    unsubscribe_group_id: String(series.unsubscribe_group_id),
    exit_criteria: String(series.exit_criteria),
    trigger_event: series.trigger_event,
    trigger_filter: series.trigger_filter,
    ...(hasCaps && { ignores_caps: String(series.ignores_caps) }),
  };
  return (
    <>
      <Problem>{problem}</Problem>
      {series.is_live === 1 && <Notice>{language.say('automations.isLive', { count: series.people.waiting })}</Notice>}
      <Card title={language.say('automations.mails')}>
        <MailList series={series} />
      </Card>
      <Card title={language.say('automations.settings')}>
        <form method="post" action={editAddress(series.utr)} class="narrow">
          <AutomationFieldset given={given ?? stored} choices={choices} events={events} problems={problems} />
          <input type="hidden" name="unchanged_since" value={series.updated_at} />
          <div class="buttons">
            <Button>{language.say('compose.save')}</Button>
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

/** Returns the fields of a submitted form. */
function givenFields(request: FastifyRequest): AutomationFields {
  const ignores_caps = field(request, 'ignores_caps');
  return {
    automation_name: field(request, 'automation_name').trim(),
    automation_for: field(request, 'automation_for'),
    unsubscribe_group_id: field(request, 'unsubscribe_group_id') || '0',
    exit_criteria: field(request, 'exit_criteria') === '1' ? '1' : '0',
    trigger_event: field(request, 'trigger_event').trim(),
    trigger_filter: field(request, 'trigger_filter').trim(),
    ...(ignores_caps !== '' && { ignores_caps }),
  };
}

export async function newAutomationScreen(app: FastifyInstance): Promise<void> {
  const show = async (
    request: FastifyRequest,
    reply: FastifyReply,
    given?: AutomationFields,
    problems: Problems = {},
  ) => {
    const viewer = viewerOf(request);
    const choices = await readChoices(request);
    const title = languageOf(request, viewer).say('automations.new');
    const first = {
      automation_name: '',
      automation_for: '',
      unsubscribe_group_id: String(choices.groups[0]?.id ?? 0),
      exit_criteria: '0',
    };
    const content = <NewAutomation given={given ?? first} choices={choices} problems={problems} />;
    return sendPage(request, reply, viewer, { title, section: 'automations' }, content);
  };

  pageRoute(app, '/automations/new', (request, reply) => show(request, reply));

  app.post('/automations/new', async (request, reply) => {
    const given = givenFields(request);
    const created = await attempt(request, createAutomation, { ...given, type: 'custom' });
    if ('output' in created) return reply.redirect(editAddress(created.output.utr), 303);
    return show(request, reply.code(created.status), given, problemsAt(created, 'automation_name'));
  });
}

function NewAutomation({
  given,
  choices,
  problems,
}: {
  given: AutomationFields;
  choices: Choices;
  problems: Problems;
}) {
  const language = useLanguage();
  return (
    <Card>
      <p class="quiet-text">{language.say('automations.new.about')}</p>
      <form method="post" action="/automations/new" class="narrow">
        <AutomationFieldset given={given} choices={choices} problems={problems} />
        <div class="buttons">
          <Button>{language.say('automations.create')}</Button>
          <LinkButton look="quiet" href="/automations">
            {language.say('confirm.cancel')}
          </LinkButton>
        </div>
      </form>
    </Card>
  );
}

interface AutomationFields {
  automation_name: string;
  automation_for: string;
  unsubscribe_group_id: string;
  exit_criteria: string;
  trigger_event?: string;
  trigger_filter?: string;
  /** Absent if the account has no frequency caps. */
  ignores_caps?: string;
}

function AutomationFieldset({
  given,
  choices: { targets, groups },
  events,
  problems,
}: {
  given: AutomationFields;
  choices: Choices;
  /** The names of events to choose from; absent before the automation is created. */
  events?: readonly string[];
  problems: Problems;
}) {
  const language = useLanguage();
  const none = { value: '', label: language.say('compose.choose') };
  return (
    <>
      <TextField
        name="automation_name"
        label={language.say('compose.name')}
        hint={language.say('compose.name.hint')}
        value={given.automation_name}
        maxLength={255}
        autocomplete="off"
        required
        problems={problems}
      />
      <SelectField
        name="automation_for"
        label={language.say('automations.who')}
        hint={language.say('automations.who.hint')}
        value={given.automation_for}
        options={[
          none,
          ...targets.map(({ value, kind, name, people }) => ({
            value,
            label: language.say(`automations.target.${kind}`, { name, count: people }),
          })),
        ]}
        problems={problems}
      />
      {events !== undefined && (
        <>
          <TextField
            name="trigger_event"
            label={language.say('automations.event')}
            hint={language.say('automations.event.hint')}
            value={given.trigger_event ?? ''}
            maxLength={64}
            autocomplete="off"
            list="event-names"
            problems={problems}
          />
          <datalist id="event-names">
            {events.map((name) => (
              <option key={name} value={name} />
            ))}
          </datalist>
          <TextField
            name="trigger_filter"
            label={language.say('segments.filter')}
            hint={language.say('segments.filter.hint')}
            value={given.trigger_filter ?? ''}
            maxLength={255}
            autocomplete="off"
            problems={problems}
          />
        </>
      )}
      <SelectField
        name="unsubscribe_group_id"
        label={language.say('compose.group')}
        hint={language.say('automations.group.hint')}
        value={given.unsubscribe_group_id}
        options={[
          { value: '0', label: language.say('compose.choose') },
          ...groups.map(({ id, group_name: label }) => ({ value: String(id), label })),
        ]}
        problems={problems}
      />
      {groups.length === 0 && (
        <p>
          {language.say('compose.group.none')} <a href="/settings/groups">{language.say('automations.group.add')}</a>
        </p>
      )}
      {given.ignores_caps !== undefined && (
        <CapField name="ignores_caps" kind="automation" value={given.ignores_caps} />
      )}
      <CheckField name="exit_criteria" label={language.say('automations.exit')} checked={given.exit_criteria === '1'} />
    </>
  );
}

function MailList({ series }: { series: Series }) {
  const language = useLanguage();
  const { mails, utr } = series;
  return (
    <div id="mails">
      {mails.length === 0 ? (
        <p class="quiet-text">{language.say('automations.noMails')}</p>
      ) : (
        <ol class="mail-steps">
          {mails.map((mail, at) => (
            <li key={mail.utr}>
              <p class="small quiet-text">
                <Wait mail={mail} />
              </p>
              <h3>
                <a href={mailAddress(utr, mail.utr)}>
                  <bdi>{mail.subject}</bdi>
                </a>
              </h3>
              {mail.content === 'none' && <Notice tone="warn">{language.say('automations.noContent')}</Notice>}
              <div class="buttons">
                {at > 0 && <Move series={series} mail={mail} where="up" />}
                {at < mails.length - 1 && <Move series={series} mail={mail} where="down" />}
                <LinkButton look="quiet" href={`${automationAddress(utr)}/mails/new?before=${mail.utr}`}>
                  {language.say('automations.addBefore')}
                </LinkButton>
                <LinkButton look="quiet" href={mailAddress(utr, mail.utr, 'remove')}>
                  {language.say('automations.remove')}
                </LinkButton>
              </div>
            </li>
          ))}
        </ol>
      )}
      <div class="buttons below">
        <LinkButton look={mails.length === 0 ? 'primary' : 'plain'} href={`${automationAddress(utr)}/mails/new`}>
          {language.say('automations.addMail')}
        </LinkButton>
      </div>
    </div>
  );
}

function Move({ series, mail, where }: { series: Series; mail: SeriesMail; where: 'up' | 'down' }) {
  const language = useLanguage();
  return (
    <form method="post" action={`${automationAddress(series.utr)}/order`}>
      <Button look="quiet">{language.say(`automations.move.${where}`)}</Button>
      <input type="hidden" name="mail" value={mail.utr} />
      <input type="hidden" name="where" value={where} />
      <input type="hidden" name="unchanged_since" value={series.updated_at} />
    </form>
  );
}
