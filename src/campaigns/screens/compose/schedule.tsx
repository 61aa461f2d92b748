/**
 * The last step of composing: a review of the campaign, and the forms that send it now, or later at a date and time in one time zone, in each
 * recipient's time zone, or at each recipient's best hour. The buttons show the number of recipients.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ComponentChildren } from 'preact';
import type { Static } from 'typebox';
import { SINGLE_SEND_STATUS } from '../../../database/schema/index.ts';
import { FIRST_ZONE, type LocalTime } from '../../../delivery/timing/local-times.ts';
import { nextSendingTime } from '../../../delivery/timing/send-window.ts';
import { canarySize, MIN_AUDIENCE } from '../../../delivery/watch/canary.ts';
import type { Said } from '../../../errors/sentences.ts';
import { type ByUtr, pageRoute } from '../../../http/pages/layout.ts';
import type { Deps } from '../../../operations/deps.ts';
import { readDomainDoubt } from '../../../senders/operations/checks.ts';
import { type Doubt, WhyDistrusted } from '../../../senders/screens/distrusted.tsx';
import { unverifiedReason, WhyHeld } from '../../../senders/screens/unverified.tsx';
import { type ResultLimits, readResultLimits, readWindow } from '../../../senders/sending-times/operations.ts';
import { AutoPauseCard } from '../../../senders/sending-times/screens/auto-pause.tsx';
import { CapField, readHasCaps } from '../../../senders/sending-times/screens/times.tsx';
import { toUtc, wallClock } from '../../../time/zones.ts';
import { Button } from '../../../ui/components/button.tsx';
import { type Problems, SelectField, TextField } from '../../../ui/components/field.tsx';
import { Island } from '../../../ui/components/island.tsx';
import { Card, Notice } from '../../../ui/components/surface.tsx';
import { setFlash } from '../../../ui/flash.ts';
import { ask, attempt, type Refusal } from '../../../ui/operations.ts';
import { languageOf } from '../../../ui/page.tsx';
import { recordTime } from '../../../ui/record-time.ts';
import { viewerOf } from '../../../ui/signed-in.ts';
import { field } from '../../../ui/submitted.ts';
import type { Viewer } from '../../../ui/viewer.ts';
import { type Language, useLanguage } from '../../../ui/words/index.ts';
import { DAY_MS } from '../../../units.ts';
import { type BestHourPlan, readBestHours } from '../../operations/best-hours.ts';
import { type Audience, countAudience, type Draft, readDraft } from '../../operations/drafts.ts';
import { readLastTest } from '../../operations/shown-mails.ts';
import { updateSingleSend } from '../../operations/single-sends.ts';
import { readVariants, type TestPlan } from '../../operations/variants.ts';
import { parseScheduleDate, parseScheduleTime } from '../../schedule.ts';
import type { LastTest } from '../../test-mail.ts';
import { Plan, TestCard } from '../variants.tsx';
import { Total } from './audience.tsx';
import { CheckSummary, checkMail, Review } from './review.tsx';
import { type Choices, campaignZone, MissingParts, missingParts, readChoices, sendStep, stepPath } from './step.tsx';

/** A value of `unchanged_since` that no single send has. */
const NO_VERSION = 'nothing';
/** The `schedule_type` of a campaign that is sent at a scheduled time. */
const LATER = 1;
/** The option of the field `zone` for each recipient's own time zone. */
const OWN_ZONES = 'own';
/** The option of the field `zone` for each recipient's best hour within 24 hours. */
const BEST_HOURS = 'best';

/** Registers the last step, in which a campaign is sent or scheduled. */
export async function scheduleStep(app: FastifyInstance, { clock }: Pick<Deps, 'clock'>): Promise<void> {
  pageRoute<ByUtr>(app, '/campaigns/:utr/edit/schedule', (request, reply) => show(request, reply, request.params.utr));

  app.post<ByUtr>('/campaigns/:utr/edit/schedule', async (request, reply) => {
    const { draft } = await ask(request, readDraft, request.params);
    const isLater = field(request, 'when') === 'later';
    const when = { date: field(request, 'date'), time: field(request, 'time'), zone: field(request, 'zone') };
    const language = languageOf(request, viewerOf(request));
    const start = isLater ? findStart(when, draft.time_zone, language.zone) : null;
    const isLocal = when.zone === OWN_ZONES;
    const { date, time } = start === null || isLocal ? when : wallClock(start, draft.time_zone);
    const sent = await attempt(request, updateSingleSend, {
      ...draft,
      // A campaign is sent only if it is still the version that the user has seen. A form without this field is refused.
      unchanged_since: field(request, 'unchanged_since') || NO_VERSION,
      canary_percent: field(request, isLater ? 'first_later' : 'first_now') || 0,
      // The form has this field only if the account has frequency caps.
      ignores_caps: field(request, isLater ? 'caps_later' : 'caps_now') || draft.ignores_caps,
      ...(isLater ? scheduledAt({ date, time, zone: when.zone }) : SENT_NOW),
    });
    if ('problems' in sent) {
      // If the button was pressed twice, the first press has sent the campaign.
      if (sent.status === 409 && isLeaving(draft)) return toCampaign(reply, draft.utr);
      const problem = problemAbove(sent, language);
      return show(request, reply.code(sent.status), draft.utr, { when, problems: sent.problems, problem });
    }
    if (start !== null && isLocal)
      sayBookedLocally(reply, language, { date, time, zone: draft.time_zone }, clock.now());
    else if (start !== null && when.zone === BEST_HOURS)
      setFlash(reply, 'good', 'best.done', {
        time: language.weekdayTime(start, draft.time_zone),
        zone: draft.time_zone,
      });
    else if (start !== null) sayBooked(reply, language, await ask(request, readWindow, {}), start, when.zone);
    return toCampaign(reply, draft.utr);
  });

  async function show(
    request: FastifyRequest,
    reply: FastifyReply,
    utr: string,
    sent: { when?: When; problems?: Problems; problem?: string } = {},
  ) {
    const [{ draft }, choices, { audience }, { best_hours: best }, hasCaps, times, { limits }, { test: lastTest }] =
      await Promise.all([
        ask(request, readDraft, { utr }),
        readChoices(request),
        ask(request, countAudience, { utr }),
        ask(request, readBestHours, { utr }),
        readHasCaps(request),
        ask(request, readWindow, {}),
        ask(request, readResultLimits, {}),
        ask(request, readLastTest, { utr }),
      ]);
    const plan = draft.variants > 1 ? (await ask(request, readVariants, { utr })).plan : null;
    const unverified = await unverifiedReason(request, [draft.sender_id]);
    const missing = missingParts(draft, audience);
    const { sender_id } = draft;
    const checked = missing.length === 0 ? await checkMail(request, utr) : null;
    const { doubt } = missing.length === 0 ? await ask(request, readDomainDoubt, { sender_id }) : { doubt: null };
    const shown = {
      draft,
      choices,
      audience,
      missing,
      checked,
      doubt,
      lastTest,
      best,
      unverified,
      viewer: viewerOf(request),
      plan,
      hasCaps,
      times,
      limits,
      now: clock.now(),
      ...sent,
    };
    const content = <Schedule {...shown} />;
    return sendStep(request, reply, draft, 'schedule', content, sent.problem);
  }
}

/** The schedule of a campaign that is sent at once. */
const SENT_NOW = { schedule_type: 0, local_time: 0, best_hour: 0 };

/** Returns the schedule of a campaign that is sent later. The zone may also stand for each recipient's zone or best hour. */
function scheduledAt({ date, time, zone }: When) {
  return {
    schedule_type: LATER,
    schedule_date: date,
    schedule_time: time,
    local_time: zone === OWN_ZONES ? 1 : 0,
    best_hour: zone === BEST_HOURS ? 1 : 0,
  };
}

/** Returns the problem that is shown above the forms; empty if all problems are shown beside the fields of the schedule. */
function problemAbove({ status, problem, problems, text }: Refusal, language: Language): string {
  if (status === 409) return language.say('compose.schedule.changed');
  const areBesideFields = problem === '' && Object.keys(problems).every((name) => /^(schedule|local|best)_/.test(name));
  return areBesideFields ? '' : language.say('compose.schedule.refused', { reason: text });
}

/** Returns true if the campaign is queued to be sent at once, is being sent, or has been sent. */
function isLeaving({ status, schedule_type: type }: Draft): boolean {
  return status > SINGLE_SEND_STATUS.queued || (status === SINGLE_SEND_STATUS.queued && type !== LATER);
}

function toCampaign(reply: FastifyReply, utr: string) {
  return reply.redirect(`/campaigns/${utr}`, 303);
}

interface ScheduleProps {
  draft: Draft;
  choices: Choices;
  audience: Audience;
  /** What the campaign lacks. */
  missing: ReturnType<typeof missingParts>;
  /** What the checks found; null if the campaign lacks something. */
  checked: Awaited<ReturnType<typeof checkMail>> | null;
  doubt: Doubt;
  lastTest: LastTest | null;
  best: BestHourPlan;
  /** The groups of the A/B test, and what it can find; null if the campaign has no test. */
  plan: TestPlan | null;
  /** Why the sender may not send mail yet; null if it may. */
  unverified: Said | null;
  viewer: Viewer;
  hasCaps: boolean;
  times: LeavingTimes;
  limits: ResultLimits;
  now: Date;
  when?: When;
  problems?: Problems;
}

function Schedule({
  draft,
  choices,
  audience,
  missing,
  checked,
  doubt,
  lastTest,
  best,
  plan,
  unverified,
  viewer,
  hasCaps,
  times,
  limits,
  now,
  when,
  problems,
}: ScheduleProps) {
  const caps = (name: string) =>
    hasCaps ? <CapField name={name} kind="campaign" value={String(draft.ignores_caps)} /> : null;
  return (
    <div class="stack">
      {draft.status === SINGLE_SEND_STATUS.queued && draft.schedule_type === LATER && <BookedNotice draft={draft} />}
      <LeavingNotice times={times} />
      <Review draft={draft} choices={choices} lastTest={lastTest} />
      <WhyDistrusted doubt={doubt} viewer={viewer} />
      {checked !== null && <CheckSummary utr={draft.utr} checked={checked} />}
      <Total audience={audience} />
      {plan !== null && (
        <>
          <TestCard draft={draft} />
          <Plan plan={plan} />
        </>
      )}
      {missing.length > 0 && <MissingParts utr={draft.utr} missing={missing} />}
      {missing.length === 0 && unverified !== null && <WhyHeld reason={unverified} viewer={viewer} />}
      {missing.length === 0 && unverified === null && (
        <>
          <Now draft={draft} count={audience.recipients} caps={caps('caps_now')} />
          <Later
            draft={draft}
            audience={audience}
            best={best}
            caps={caps('caps_later')}
            now={now}
            when={when}
            problems={problems}
          />
          {audience.recipients > limits.least_results && (
            <AutoPauseCard limits={limits} utr={draft.utr} mayChange={viewer.role === 'owner'} />
          )}
        </>
      )}
    </div>
  );
}

/** A notice that the campaign is already scheduled, and for when. */
function BookedNotice({ draft }: { draft: Draft }) {
  const language = useLanguage();
  const { schedule_date: date, schedule_time: hour, time_zone: zone } = draft;
  const time = language.weekdayTime(toUtc(date, hour, zone), zone);
  const text =
    draft.local_time === 1
      ? language.say('local.is', { time })
      : language.say(draft.best_hour === 1 ? 'best.is' : 'compose.schedule.is', { time, zone });
  return <Notice>{text}</Notice>;
}

/** The form that sends the campaign now. */
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
      <form method="post" action={stepPath(draft.utr, 'schedule')}>
        <FirstBatchField name="first_now" draft={draft} count={count} />
        {caps}
        <Button name="when" value="now" label={language.say('compose.schedule.send', { count })} />
        <input type="hidden" name="unchanged_since" value={draft.updated_at} />
      </form>
    </Card>
  );
}

/** The submitted date, time and time zone. */
interface When {
  date: string;
  time: string;
  zone: string;
}

/**
 * Returns the chosen moment; in the recipients' own time zones, the moment for recipients whose time zone is unknown. Returns null if the date,
 * the time or the zone is invalid. Then the operation that schedules the campaign reports the error.
 */
function findStart({ date, time, zone: chosenZone }: When, accountZone: string, userZone: string): Date | null {
  const day = parseScheduleDate(date);
  const hour = parseScheduleTime(time);
  const zone = chosenZone === OWN_ZONES || chosenZone === BEST_HOURS ? accountZone : chosenZone;
  if (day === null || hour === null || ![accountZone, userZone].includes(zone)) return null;
  return toUtc(day, hour, zone);
}

/** Sets the message of the next page that says when a campaign in the recipients' own time zones starts, and until when it can be changed. */
function sayBookedLocally(reply: FastifyReply, language: Language, local: LocalTime, now: Date): void {
  const { date, time, zone } = local;
  const shown = language.weekdayTime(toUtc(date, time, zone), zone);
  const first = toUtc(date, time, FIRST_ZONE);
  if (first <= now) setFlash(reply, 'warn', 'local.doneNow', { time: shown });
  else setFlash(reply, 'good', 'local.done', { time: shown, first: language.weekdayTime(first, zone), zone });
}

/** The sending hours of the account. */
type LeavingTimes = Static<typeof readWindow.output>;

/** A notice that the account sends no mail at this time, and when the sending hours begin. */
function LeavingNotice({ times }: { times: LeavingTimes }) {
  const language = useLanguage();
  const opens = recordTime(times.waits_until);
  if (opens === null) return null;
  const { time_zone: zone } = times;
  return <Notice>{language.say('window.now', { time: language.weekdayTime(opens, zone), zone })}</Notice>;
}

/** Sets the message of the next page that says when a campaign is scheduled, and when its sending begins if sending hours delay it. */
function sayBooked(
  reply: FastifyReply,
  language: Language,
  { window, time_zone }: LeavingTimes,
  start: Date,
  zone: string,
): void {
  const time = language.weekdayTime(start, zone);
  const opens = window && nextSendingTime(window, start, time_zone);
  if (opens === null) setFlash(reply, 'good', 'compose.schedule.done', { time, zone });
  else setFlash(reply, 'warn', 'window.booked', { time, zone, opens: language.weekdayTime(opens, zone) });
}

interface LaterProps {
  draft: Draft;
  audience: Audience;
  best: BestHourPlan;
  caps: ComponentChildren;
  now: Date;
  when: When | undefined;
  problems: Problems | undefined;
}

/** The form that schedules the campaign. */
function Later({ draft, audience, best, caps, now, when, problems = {} }: LaterProps) {
  const language = useLanguage();
  const { recipients: count, with_zone: known } = audience;
  const isBooked = draft.status === SINGLE_SEND_STATUS.queued && draft.schedule_type === LATER;
  const defaultZone = campaignZone(language, draft.time_zone);
  const tomorrow = wallClock(new Date(now.getTime() + DAY_MS), defaultZone).date;
  const shown = when ?? {
    date: isBooked ? draft.schedule_date : tomorrow,
    time: isBooked ? draft.schedule_time.slice(0, 'HH:MM'.length) : '09:00',
    zone: isBooked ? bookedZone(draft) : defaultZone,
  };
  const zones = [...new Set([draft.time_zone, language.zone])];
  // The form has other names for the fields than the operation.
  const { schedule_date: date, schedule_time: time, local_time: local, best_hour: hour } = problems;
  const zone = local ?? hour;
  const formProblems = { ...(date && { date }), ...(time && { time }), ...(zone && { zone }) };
  return (
    <Card title={language.say('compose.schedule.later')}>
      <Island name="weekday" data={{ locale: language.locale, zone: language.zone }}>
        <form method="post" action={stepPath(draft.utr, 'schedule')}>
          <div class="fields-in-row">
            <TextField
              name="date"
              type="date"
              label={language.say('compose.schedule.date')}
              value={shown.date}
              required
              problems={formProblems}
            />
            <TextField
              name="time"
              type="time"
              label={language.say('compose.schedule.time')}
              value={shown.time}
              required
              problems={formProblems}
            />
            <SelectField
              name="zone"
              label={language.say('compose.schedule.zone')}
              value={shown.zone}
              options={[
                ...zones.map((zone) => ({ value: zone, label: zone.replaceAll('_', ' ') })),
                { value: OWN_ZONES, label: language.say('local.option') },
                { value: BEST_HOURS, label: language.say('best.option') },
              ]}
              problems={formProblems}
            />
          </div>
          <p class="small quiet-text own-zones">
            {language.say('local.known', {
              known: language.number(known),
              others: language.number(count - known),
              zone: draft.time_zone,
            })}{' '}
            {language.say('local.about')}
          </p>
          <p class="small quiet-text best-hours">{bestHoursText(language, best)}</p>
          <FirstBatchField name="first_later" draft={draft} count={count} />
          {caps}
          <p data-weekday role="status" />
          <Button look="plain" name="when" value="later" label={language.say('compose.schedule.book', { count })} />
          <input type="hidden" name="unchanged_since" value={draft.updated_at} />
        </form>
      </Island>
    </Card>
  );
}

/** Returns the option of the field `zone` that a scheduled campaign has. */
function bookedZone({ local_time, best_hour, time_zone }: Draft): string {
  if (local_time === 1) return OWN_ZONES;
  return best_hour === 1 ? BEST_HOURS : time_zone;
}

/** The number of the most frequent best hours that the page names. */
const NAMED_HOURS = 3;

/** Returns the best hours of the recipients in words. */
function bestHoursText(language: Language, { looked_at, with_evidence, time_zone, hours }: BestHourPlan): string {
  if (hours.length === 0) return language.say('best.unknown');
  const hourTexts = hours
    .slice(0, NAMED_HOURS)
    .map(({ hour, count }) =>
      language.say('best.hour', { hour: `${hour}:00`, share: language.percent(count / looked_at) }),
    );
  return language.say('best.known', {
    known: language.number(with_evidence),
    count: looked_at,
    zone: time_zone,
    hours: hourTexts.join(', '),
  });
}

/** The percentages that the form offers for the first batch. */
const FIRST_PERCENTS = [0, 1, 2, 3, 4, 5];

/** The field with the size of the first batch; nothing for a small audience, and for an A/B test, which has a test group instead. */
function FirstBatchField({ name, draft, count }: { name: string; draft: Draft; count: number }) {
  const language = useLanguage();
  if (count < MIN_AUDIENCE || draft.variants > 1) return null;
  const label = (percent: number) =>
    percent === 0
      ? language.say('compose.schedule.first.none')
      : language.say('compose.schedule.first.part', {
          count: canarySize(count, percent),
          share: language.percent(percent / 100),
        });
  return (
    <SelectField
      name={name}
      label={language.say('compose.schedule.first')}
      hint={language.say('compose.schedule.first.hint')}
      value={String(draft.canary_percent)}
      options={FIRST_PERCENTS.map((percent) => ({ value: String(percent), label: label(percent) }))}
    />
  );
}
