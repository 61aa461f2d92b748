/**
 * The page of the replay of an automation: what the automation would have done in the last days, what the replay assumes, and the
 * paths of contacts.
 */
import type { FastifyInstance } from 'fastify';
import { type ByUtr, pageRoute } from '../../http/pages/layout.ts';
import { Button } from '../../ui/components/button.tsx';
import { Chart } from '../../ui/components/chart.tsx';
import { type Problems, TextField } from '../../ui/components/field.tsx';
import { Meter, Stats } from '../../ui/components/figures.tsx';
import { Island } from '../../ui/components/island.tsx';
import { Subject } from '../../ui/components/subject.tsx';
import { Card, Notice, Problem } from '../../ui/components/surface.tsx';
import { numberColumn, Pager, SearchForm, Table } from '../../ui/components/table.tsx';
import { ask, attempt } from '../../ui/operations.ts';
import { texts } from '../../ui/submitted.ts';
import { withQuery } from '../../ui/with-query.ts';
import { useLanguage } from '../../ui/words/index.ts';
import { DEFAULT_CLICKS, DEFAULT_OPENS, MAX_DAYS, replayAutomation, type ShownReplay } from '../operations/replay.ts';
import { readSummary } from '../operations/reports.ts';
import { replayAddress, sendAutomationPage } from './changing.tsx';
import { lineText } from './log.tsx';

/** The number of paths on a page. */
const ROWS = 10;
/** How long the page waits for the result before it shows the progress, in seconds. */
const WAIT_SECONDS = 3;
/** The time after which a page with the progress reloads itself, in seconds. */
const RELOAD_SECONDS = 2;

interface Call extends ByUtr {
  Querystring: { days?: string; opens?: string; clicks?: string; run?: string; email?: string; after?: string };
}

type ReplayResult = NonNullable<ShownReplay['result']>;

/** Registers the page of the replay of an automation. */
export async function replayScreen(app: FastifyInstance): Promise<void> {
  pageRoute<Call>(app, '/automations/:utr/replay', async (request, reply) => {
    const { utr } = request.params;
    const { run, after } = request.query;
    const [days = String(MAX_DAYS)] = texts(request.query.days);
    const [opens = String(DEFAULT_OPENS)] = texts(request.query.opens);
    const [clicks = String(DEFAULT_CLICKS)] = texts(request.query.clicks);
    const [email = ''] = texts(request.query.email);
    const { automation_name: title } = await ask(request, readSummary, { utr });
    const values = { days, opens, clicks };
    const read =
      run === undefined
        ? null
        : await attempt(request, replayAutomation, {
            utr,
            ...values,
            limit: ROWS,
            wait: WAIT_SECONDS,
            ...(email.trim() !== '' && { email }),
            ...(after !== undefined && { after_id: after }),
          });
    const problems = read !== null && 'problems' in read ? read.problems : {};
    const refusal = read !== null && 'problems' in read ? read.problem : null;
    const replay = read !== null && 'output' in read ? read.output.replay : null;
    // The page reloads itself until the result is ready. When the page is closed, no request asks for the replay, so it ends.
    if (replay !== null && replay.result === null) reply.header('refresh', RELOAD_SECONDS);
    const href = withQuery(replayAddress(utr), { ...values, run: '1', email });
    const next = replay?.result?.next_after_id ?? null;
    const pages = {
      first: after === undefined ? null : href,
      next: next === null ? null : withQuery(replayAddress(utr), { ...values, run: '1', email, after: String(next) }),
    };
    const content = (
      <div class="stack">
        <Assumptions {...values} problems={problems} problem={Object.keys(problems).length === 0 ? refusal : null} />
        {replay !== null && <Outcome {...{ replay, email, pages, values }} />}
      </div>
    );
    return sendAutomationPage(request, reply, { utr, title }, content);
  });
}

/** The values of the form. */
interface ReplayFields {
  days: string;
  opens: string;
  clicks: string;
}

function Assumptions({
  days,
  opens,
  clicks,
  problems,
  problem,
}: ReplayFields & { problems: Problems; problem: string | null }) {
  const language = useLanguage();
  const share = { type: 'number', min: 0, max: 100, required: true } as const;
  return (
    <Card title={language.say('automations.replay')}>
      <p>{language.say('automations.replay.about')}</p>
      <Problem>{problem}</Problem>
      <form method="get" class="narrow">
        <TextField
          type="number"
          min={1}
          max={MAX_DAYS}
          required
          name="days"
          label={language.say('automations.replay.days')}
          value={days}
          problems={problems}
        />
        <Island name="slider">
          <TextField
            {...share}
            name="opens"
            label={language.say('automations.replay.opens')}
            hint={language.say('automations.replay.opens.hint')}
            value={opens}
            problems={problems}
          />
        </Island>
        <Island name="slider">
          <TextField
            {...share}
            name="clicks"
            label={language.say('automations.replay.clicks')}
            value={clicks}
            problems={problems}
          />
        </Island>
        <input type="hidden" name="run" value="1" />
        <Button label={language.say('automations.replay.run')} />
      </form>
    </Card>
  );
}

interface OutcomeProps {
  replay: ShownReplay;
  email: string;
  /** The URLs of the first and the next page of paths; null if there is no such page. */
  pages: { first: string | null; next: string | null };
  values: ReplayFields;
}

function Outcome({ replay: { state, progress, trigger, result }, email, pages, values }: OutcomeProps) {
  const language = useLanguage();
  if (result === null)
    return (
      <Card>
        <p role="status">
          {state === 'waiting'
            ? language.say('automations.replay.waiting')
            : language.say('automations.replay.running', { percent: language.percent(progress / 100) })}
        </p>
        <Meter label={language.say('automations.replay')} value={progress} max={100} />
      </Card>
    );
  const { from, to, problem, limits } = result;
  const time = (at: string) => language.dateTime(new Date(at));
  const names = result.new_segments
    .map(({ segment_name: name, created_at }) => `${name} (${time(created_at)})`)
    .join(', ');
  return (
    <>
      {problem !== null && <Notice tone="bad">{language.fullSentence(problem)}</Notice>}
      <Card title={language.say('automations.replay.found')}>
        <p class="quiet-text">
          {language.say('automations.replay.time', { from: time(from), to: time(to) })}{' '}
          {language.say('automations.replay.trigger', { trigger: language.say(`automations.replay.by.${trigger}`) })}
        </p>
        <Stats
          figures={[
            { label: language.say('automations.replay.entered'), value: language.number(result.entered) },
            { label: language.say('automations.replay.mails'), value: language.number(result.mails) },
            { label: language.say('automations.replay.way'), value: language.number(result.on_the_way) },
            { label: language.say('automations.log.finished'), value: language.number(result.finished) },
            { label: language.say('automations.log.left'), value: language.number(result.exited) },
          ]}
        />
        <Days days={result.days} />
      </Card>
      <MailsAndReasons result={result} />
      <Card title={language.say('automations.replay.limits')}>
        <ul class="stack">
          {limits.map((limit) => (
            <li key={limit}>{language.say(`automations.replay.limit.${limit}`, { ...values, names })}</li>
          ))}
        </ul>
      </Card>
      <Paths {...{ result, email, pages, values }} />
    </>
  );
}

function Days({ days }: Pick<ReplayResult, 'days'>) {
  const language = useLanguage();
  if (days.length === 0) return <p class="quiet-text">{language.say('automations.replay.nobody')}</p>;
  return (
    <Chart
      title={language.say('automations.replay.byDay')}
      heading={language.say('automations.replay.day')}
      labels={days.map(({ day }) => language.calendarDay(day))}
      series={[
        {
          label: language.say('automations.replay.entered'),
          colour: 1,
          kind: 'bars',
          values: days.map(({ entered }) => entered),
        },
        {
          label: language.say('automations.replay.mails'),
          colour: 2,
          kind: 'line',
          values: days.map(({ mails }) => mails),
        },
      ]}
    />
  );
}

function MailsAndReasons({ result }: { result: ReplayResult }) {
  const language = useLanguage();
  const parts = [
    ['not_entered', result.not_entered],
    ['exits', result.exits],
    ['not_sent', result.not_sent],
  ] as const;
  return (
    <>
      {result.by_mail.length > 0 && (
        <Card title={language.say('automations.replay.byMail')} isList>
          <Table
            caption={language.say('automations.replay.byMail')}
            rows={result.by_mail}
            keyOf={({ utr }) => utr}
            columns={[
              { heading: language.say('automations.step.mail'), cell: ({ subject }) => <Subject text={subject} /> },
              numberColumn(language, 'automations.replay.sent', 'sent'),
              numberColumn(language, 'automations.replay.waited', 'waited'),
              numberColumn(language, 'automations.replay.notSent', 'not_sent'),
            ]}
          />
        </Card>
      )}
      {parts.map(
        ([name, rows]) =>
          rows.length > 0 && (
            <Card key={name} title={language.say(`automations.replay.${name}`)} isList>
              <Table
                caption={language.say(`automations.replay.${name}`)}
                rows={rows}
                keyOf={({ reason_code, reason }) => `${reason_code} ${JSON.stringify(reason)}`}
                columns={[
                  {
                    heading: language.say('automations.replay.reason'),
                    cell: ({ reason }) => (reason === null ? '–' : language.sentence(reason)),
                  },
                  numberColumn(language, 'automations.replay.count', 'count'),
                ]}
              />
            </Card>
          ),
      )}
    </>
  );
}

function Paths({
  result,
  email,
  pages,
  values,
}: { result: ReplayResult } & Pick<OutcomeProps, 'email' | 'pages' | 'values'>) {
  const language = useLanguage();
  return (
    <Card title={language.say('automations.replay.paths')}>
      <SearchForm name="email" label={language.say('word.email')} find={language.say('word.find')} value={email}>
        {Object.entries({ ...values, run: '1' }).map(([name, value]) => (
          <input key={name} type="hidden" name={name} value={value} />
        ))}
      </SearchForm>
      {result.paths.length === 0 && (
        <p class="quiet-text">
          {language.say(email.trim() === '' ? 'automations.replay.nobody' : 'automations.replay.noPath')}
        </p>
      )}
      {result.paths.map((path) => (
        <details key={path.id} open={email.trim() !== ''}>
          <summary>
            <bdi>{path.email}</bdi> ({language.say(`automations.replay.state.${path.state}`)})
          </summary>
          <ol class="stack">
            {path.lines.map((line, at) => (
              <li key={`${path.id} ${at}`}>
                {language.dateTime(new Date(line.happened_at))}: <bdi>{lineText(language, line)}</bdi>
              </li>
            ))}
          </ol>
        </details>
      ))}
      <Pager {...pages} />
    </Card>
  );
}
