/** The last step: sending now or later. The buttons say to how many people. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ComponentChildren } from 'preact';
import { Button } from '../../../dashboard/components/button.tsx';
import type { Problems } from '../../../dashboard/components/field.tsx';
import { Card, Notice } from '../../../dashboard/components/surface.tsx';
import { ask, attempt, sentenceOf } from '../../../dashboard/operations.ts';
import { languageOf } from '../../../dashboard/page.tsx';
import { field } from '../../../dashboard/sign-in/fields.ts';
import { viewerOf } from '../../../dashboard/signed-in.ts';
import { useLanguage } from '../../../dashboard/words/index.ts';
import { SINGLE_SEND_STATUS } from '../../../database/schema/index.ts';
import { READ } from '../../../http/pages/layout.ts';
import type { Deps } from '../../../operations/deps.ts';
import { type ResultLimits, readResultLimits, readWindow } from '../../../sending-times/operations.ts';
import { CapField, readHasCaps } from '../../../sending-times/screens/cap-field.tsx';
import { HoldCard } from '../../../sending-times/screens/hold-card.tsx';
import { toUtc, wallClock } from '../../../time/zones.ts';
import { type Audience, countAudience, type Draft, readDraft } from '../../operations/drafts.ts';
import { updateSingleSend } from '../../operations/single-sends.ts';
import { readVariants, type TestPlan } from '../../operations/variants.ts';
import { Total } from './audience.tsx';
import { sendStep, stepPath } from './frame.tsx';
import {
  FirstPart,
  findStart,
  LATER,
  Later,
  LeavingNotice,
  type LeavingTimes,
  OWN_ZONES,
  sayBooked,
  sayBookedLocally,
  type When,
} from './later.tsx';
import { MissingParts, missingParts } from './missing.tsx';
import { Plan, TestCard } from './test-parts.tsx';

const CONFLICT = 409;
const SEE_OTHER = 303;
const NOTHING_SEEN = 'nothing';

interface ByUtr {
  Params: { utr: string };
}
export async function scheduleStep(app: FastifyInstance, { clock }: Pick<Deps, 'clock'>): Promise<void> {
  app.route<ByUtr>({
    method: READ,
    url: '/mailings/:utr/edit/schedule',
    handler: (request, reply) => show(request, reply, request.params.utr),
  });

  app.post<ByUtr>('/mailings/:utr/edit/schedule', async (request, reply) => {
    const { draft } = await ask(request, readDraft, request.params);
    const isLater = field(request, 'when') === 'later';
    const when = { date: field(request, 'date'), time: field(request, 'time'), zone: field(request, 'zone') };
    const language = languageOf(request, viewerOf(request));
    const start = isLater ? findStart(when, draft.time_zone, language.zone) : null;
    const isLocal = when.zone === OWN_ZONES;
    const { date, time } = start === null || isLocal ? when : wallClock(start, draft.time_zone);
    const sent = await attempt(request, updateSingleSend, {
      ...draft,
      // Nothing leaves that its sender has not seen, so a form without it counts as one of an older version.
      unchanged_since: field(request, 'unchanged_since') || NOTHING_SEEN,
      canary_percent: field(request, isLater ? 'first_later' : 'first_now') || 0,
      // The form asks only in an account with limits of mails per person.
      ignores_caps: field(request, isLater ? 'caps_later' : 'caps_now') || draft.ignores_caps,
      ...(isLater
        ? { schedule_type: LATER, schedule_date: date, schedule_time: time, local_time: isLocal ? 1 : 0 }
        : { schedule_type: 0, local_time: 0 }),
    });
    if ('problems' in sent) {
      const { status, problems } = sent;
      // A button that was pressed twice: the first time did it.
      if (status === CONFLICT && isLeaving(draft)) return toCampaign(reply, draft.utr);
      const isSchedule = sent.problem === '' && Object.keys(problems).every((name) => /^(schedule|local)_/.test(name));
      const problem =
        status === CONFLICT
          ? language.say('compose.schedule.changed')
          : isSchedule
            ? ''
            : language.say('compose.schedule.refused', { reason: sentenceOf(sent) });
      return show(request, reply.code(status), draft.utr, { when, problems, problem });
    }
    if (start !== null && isLocal)
      sayBookedLocally(reply, language, { date, time, zone: draft.time_zone }, clock.now());
    else if (start !== null) sayBooked(reply, language, await ask(request, readWindow, {}), start, when.zone);
    return toCampaign(reply, draft.utr);
  });

  async function show(
    request: FastifyRequest,
    reply: FastifyReply,
    utr: string,
    sent: { when?: When; problems?: Problems; problem?: string } = {},
  ) {
    const [{ draft }, { audience }, hasCaps, times, { limits }] = await Promise.all([
      ask(request, readDraft, { utr }),
      ask(request, countAudience, { utr }),
      readHasCaps(request),
      ask(request, readWindow, {}),
      ask(request, readResultLimits, {}),
    ]);
    const plan = draft.variants > 1 ? (await ask(request, readVariants, { utr })).plan : null;
    const mayChange = viewerOf(request).role === 'owner';
    const shown = { draft, audience, plan, hasCaps, times, limits, mayChange, now: clock.now(), ...sent };
    const content = <Schedule {...shown} />;
    return sendStep(request, reply, draft, 'schedule', content, sent.problem);
  }
}

/** Whether it rests before it leaves, or has left. */
function isLeaving({ status, schedule_type: type }: Draft): boolean {
  return status > SINGLE_SEND_STATUS.queued || (status === SINGLE_SEND_STATUS.queued && type !== LATER);
}

function toCampaign(reply: FastifyReply, utr: string) {
  return reply.redirect(`/mailings/${utr}`, SEE_OTHER);
}

interface ScheduleProps {
  draft: Draft;
  audience: Audience;
  /** What its A/B test can find; null without one. */
  plan: TestPlan | null;
  hasCaps: boolean;
  times: LeavingTimes;
  limits: ResultLimits;
  /** Whether the reader may change what holds for all campaigns. */
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
      {draft.status === SINGLE_SEND_STATUS.queued && draft.schedule_type === LATER && <Present draft={draft} />}
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
            audience={audience}
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

function Present({ draft }: { draft: Draft }) {
  const language = useLanguage();
  const { schedule_date: date, schedule_time: day, time_zone: zone } = draft;
  const time = language.weekdayTime(toUtc(date, day, zone), zone);
  const text =
    draft.local_time === 1 ? language.say('local.is', { time }) : language.say('compose.schedule.is', { time, zone });
  return <Notice>{text}</Notice>;
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
      <form method="post" action={stepPath(draft.utr, 'schedule')}>
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
