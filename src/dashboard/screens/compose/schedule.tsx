/** The last step: sending now or later. The buttons say to how many people. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ComponentChildren } from 'preact';
import type { Deps } from '../../../deps.ts';
import { READ } from '../../../http/pages/layout.ts';
import { parseScheduleDate, parseScheduleTime } from '../../../single-sends/schedule.ts';
import { toUtc, wallClock } from '../../../zones.ts';
import { ApiClient, refusalOf, refusalText } from '../../api-client.ts';
import { Button } from '../../components/button.tsx';
import { type Problems, SelectField, TextField } from '../../components/field.tsx';
import { Island } from '../../components/island.tsx';
import { Card, Notice } from '../../components/surface.tsx';
import { languageOf } from '../../page.tsx';
import { field } from '../../sign-in/fields.ts';
import { viewerOf } from '../../signed-in.ts';
import { useLanguage } from '../../words/index.ts';
import { HoldCard, type ResultLimits, readResultLimits } from '../settings/returns/hold-card.tsx';
import { Total } from './audience.tsx';
import { CapField } from './cap-field.tsx';
import { FirstPart } from './first-part.tsx';
import { sendStep, stepAddress } from './frame.tsx';
import { LeavingNotice, type LeavingTimes, readLeavingTimes, sayBooked } from './leaving.tsx';
import { MissingParts } from './missing.tsx';
import { type Audience, type Draft, missingParts, QUEUED, readAudience, readDraft, readHasCaps } from './records.ts';
import { TestCard } from './variants/card.tsx';
import { Plan } from './variants/plan.tsx';
import { readTest, type StoredTest } from './variants/records.ts';

const CONFLICT = 409;
const SEE_OTHER = 303;
const LATER = 1;
const NOTHING_SEEN = 'nothing';
const DAY_MS = 86_400_000;

interface ByUtr {
  Params: { utr: string };
}
/** Day, time and zone as they were given. */
interface When {
  date: string;
  time: string;
  zone: string;
}

export async function scheduleStep(app: FastifyInstance, { clock }: Pick<Deps, 'clock'>): Promise<void> {
  app.route<ByUtr>({
    method: READ,
    url: '/mailings/:utr/edit/schedule',
    handler: (request, reply) => show(request, reply, request.params.utr),
  });

  app.post<ByUtr>('/mailings/:utr/edit/schedule', async (request, reply) => {
    const api = new ApiClient(app, request);
    const draft = await readDraft(api, request.params.utr);
    const isLater = field(request, 'when') === 'later';
    const when = { date: field(request, 'date'), time: field(request, 'time'), zone: field(request, 'zone') };
    const language = languageOf(request, viewerOf(request));
    const start = isLater ? findStart(when, [draft.time_zone, language.zone]) : null;
    const { date, time } = start === null ? when : wallClock(start, draft.time_zone);
    const answer = await api.send('POST', '/single/send/update', {
      ...sendFields(draft),
      // Nothing leaves that its sender has not seen, so a form without it counts as one of an older version.
      unchanged_since: field(request, 'unchanged_since') || NOTHING_SEEN,
      canary_percent: field(request, isLater ? 'first_later' : 'first_now') || 0,
      ...capChoice(field(request, isLater ? 'caps_later' : 'caps_now')),
      ...(isLater ? { schedule_type: LATER, schedule_date: date, schedule_time: time } : { schedule_type: 0 }),
    });
    if (answer.message === undefined) {
      // A button that was pressed twice: the first time did it.
      if (answer.status === CONFLICT && isLeaving(draft)) return toMailing(reply, draft.utr);
      const { problems, problem: refusal } = refusalOf(answer);
      const isSchedule = refusal === '' && Object.keys(problems).every((name) => name.startsWith('schedule_'));
      const problem =
        answer.status === CONFLICT
          ? language.say('compose.schedule.changed')
          : isSchedule
            ? ''
            : language.say('compose.schedule.refused', { reason: refusalText(answer) });
      return show(request, reply.code(answer.status), draft.utr, { when, problems, problem });
    }
    if (start !== null) sayBooked(reply, language, await readLeavingTimes(api), start, when.zone);
    return toMailing(reply, draft.utr);
  });

  async function show(
    request: FastifyRequest,
    reply: FastifyReply,
    utr: string,
    sent: { when?: When; problems?: Problems; problem?: string } = {},
  ) {
    const api = new ApiClient(app, request);
    const [draft, audience, hasCaps, times, limits] = await Promise.all([
      readDraft(api, utr),
      readAudience(api, utr),
      readHasCaps(api),
      readLeavingTimes(api),
      readResultLimits(api),
    ]);
    const plan = draft.variants > 1 ? (await readTest(api, utr)).plan : null;
    const mayChange = viewerOf(request).role === 'owner';
    const shown = { draft, audience, plan, hasCaps, times, limits, mayChange, now: clock.now(), ...sent };
    const content = <Schedule {...shown} />;
    return sendStep(request, reply, draft, 'schedule', content, sent.problem);
  }
}

/** The parameter of the API about the limits; the form asks only in an account that has some. */
function capChoice(given: string): { ignores_caps?: string } {
  return given === '' ? {} : { ignores_caps: given };
}

/** Whether it rests before it leaves, or has left. */
function isLeaving({ status, schedule_type: type }: Draft): boolean {
  return status > QUEUED || (status === QUEUED && type !== LATER);
}

function toMailing(reply: FastifyReply, utr: string) {
  return reply.redirect(`/mailings/${utr}`, SEE_OTHER);
}

/** What an update of the API needs, as it is stored; its content stays. */
function sendFields(draft: Draft) {
  const { utr, single_send_name, subject, preheader, sender_id, unsubscribe_group_id, template_id } = draft;
  const { recipient_id, exclude_specific_recipient_id } = draft;
  return {
    utr,
    single_send_name,
    subject,
    preheader,
    sender_id,
    unsubscribe_group_id,
    template_id,
    recipient_id,
    exclude_specific_recipient_id,
  };
}

/** The moment that was meant; null where it is none, which the API says in its own words. */
function findStart({ date, time, zone }: When, zones: readonly string[]): Date | null {
  const day = parseScheduleDate(date);
  const hour = parseScheduleTime(time);
  return day === null || hour === null || !zones.includes(zone) ? null : toUtc(day, hour, zone);
}

interface ScheduleProps {
  draft: Draft;
  audience: Audience;
  /** What its A/B test can find; null without one. */
  plan: StoredTest['plan'];
  hasCaps: boolean;
  times: LeavingTimes;
  limits: ResultLimits;
  /** Whether the reader may change what holds for all mailings. */
  mayChange: boolean;
  now: Date;
  when?: When;
  problems?: Problems;
}

function Schedule({ draft, audience, plan, hasCaps, times, limits, mayChange, now, when, problems }: ScheduleProps) {
  const missing = missingParts(draft, audience);
  const caps = (name: string) =>
    hasCaps ? <CapField name={name} kind="mailing" value={String(draft.ignores_caps)} /> : null;
  return (
    <div class="stack">
      {draft.status === QUEUED && draft.schedule_type === LATER && <Present draft={draft} />}
      <LeavingNotice times={times} />
      <Total audience={audience} />
      {plan !== null && (
        <>
          <TestCard draft={draft} />
          <Plan plan={plan} />
        </>
      )}
      {missing.length > 0 ? (
        <MissingParts utr={draft.utr} missing={missing} />
      ) : (
        <>
          <Now draft={draft} count={audience.recipients} caps={caps('caps_now')} />
          <Later
            draft={draft}
            count={audience.recipients}
            caps={caps('caps_later')}
            now={now}
            when={when}
            problems={problems}
          />
          {audience.recipients > limits.least_results && (
            <HoldCard limits={limits} utr={draft.utr} mayChange={mayChange} />
          )}
        </>
      )}
    </div>
  );
}

function Present({ draft: { schedule_date: date, schedule_time: time, time_zone: zone } }: { draft: Draft }) {
  const language = useLanguage();
  return (
    <Notice>
      {language.say('compose.schedule.is', { time: language.weekdayTime(toUtc(date, time, zone), zone), zone })}
    </Notice>
  );
}

function Now({ draft, count, caps }: { draft: Draft; count: number; caps: ComponentChildren }) {
  const language = useLanguage();
  const { recall_seconds: seconds } = draft;
  return (
    <Card title={language.say('compose.schedule.now')}>
      <p class="quiet-text">
        {seconds === 0
          ? language.say('compose.schedule.now.atOnce')
          : language.say('compose.schedule.now.about', { count: seconds })}
      </p>
      <form method="post" action={stepAddress(draft.utr, 'schedule')}>
        <FirstPart name="first_now" draft={draft} count={count} />
        {caps}
        <Button name="when" value="now">
          {language.say('compose.schedule.send', { count })}
        </Button>
        <input type="hidden" name="unchanged_since" value={draft.updated_at} />
      </form>
    </Card>
  );
}

interface LaterProps {
  draft: Draft;
  count: number;
  caps: ComponentChildren;
  now: Date;
  when: When | undefined;
  problems: Problems | undefined;
}

function Later({ draft, count, caps, now, when, problems = {} }: LaterProps) {
  const language = useLanguage();
  const isBooked = draft.status === QUEUED && draft.schedule_type === LATER;
  const tomorrow = wallClock(new Date(now.getTime() + DAY_MS), draft.time_zone).date;
  const shown = when ?? {
    date: isBooked ? draft.schedule_date : tomorrow,
    time: isBooked ? draft.schedule_time.slice(0, 'HH:MM'.length) : '09:00',
    zone: draft.time_zone,
  };
  const zones = [...new Set([draft.time_zone, language.zone])];
  // The API knows the fields by other names.
  const { schedule_date: date, schedule_time: time } = problems;
  const named = { ...(date && { date }), ...(time && { time }) };
  return (
    <Card title={language.say('compose.schedule.later')}>
      <Island name="weekday" data={{ locale: language.locale }}>
        <form method="post" action={stepAddress(draft.utr, 'schedule')}>
          <div class="fields-in-row">
            <TextField
              name="date"
              type="date"
              label={language.say('compose.schedule.date')}
              value={shown.date}
              required
              problems={named}
            />
            <TextField
              name="time"
              type="time"
              label={language.say('compose.schedule.time')}
              value={shown.time}
              required
              problems={named}
            />
            <SelectField
              name="zone"
              label={language.say('compose.schedule.zone')}
              value={shown.zone}
              options={zones.map((zone) => ({ value: zone, label: zone.replaceAll('_', ' ') }))}
            />
          </div>
          <FirstPart name="first_later" draft={draft} count={count} />
          {caps}
          <p data-weekday role="status" />
          <Button look="plain" name="when" value="later">
            {language.say('compose.schedule.book', { count })}
          </Button>
          <input type="hidden" name="unchanged_since" value={draft.updated_at} />
        </form>
      </Island>
    </Card>
  );
}
