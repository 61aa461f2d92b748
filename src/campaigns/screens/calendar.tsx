/** The calendar of campaigns, a month on a page. A narrow window shows only the days with campaigns, below each other. */
import type { FastifyInstance } from 'fastify';
import { pageRoute } from '../../http/pages/layout.ts';
import type { Deps } from '../../operations/deps.ts';
import { addDays, toUtc, wallClock, weekdayOf } from '../../time/zones.ts';
import { LinkButton } from '../../ui/components/button.tsx';
import { StateBadge } from '../../ui/components/campaign-state.tsx';
import { ask } from '../../ui/operations.ts';
import { languageOf, sendPage } from '../../ui/page.tsx';
import { viewerOf } from '../../ui/signed-in.ts';
import { useLanguage } from '../../ui/words/index.ts';
import { listPlanned, type PlannedCampaign } from '../operations/calendar.ts';
import { campaignZone } from './compose/step.tsx';
import { CampaignViews } from './views.tsx';

const DAYS_PER_WEEK = 7;
/** The number of campaigns of a day that are shown; further ones are folded. */
const MAX_SHOWN = 3;
/** The number of days from the 28th of a month after which it is always the next month. */
const TO_NEXT_MONTH = 4;

/** Registers the calendar. */
export async function calendarScreen(
  app: FastifyInstance,
  { clock, config }: Pick<Deps, 'clock' | 'config'>,
): Promise<void> {
  pageRoute<{ Querystring: { month?: unknown } }>(app, '/campaigns/calendar', async (request, reply) => {
    const viewer = viewerOf(request);
    const language = languageOf(request, viewer);
    const zone = campaignZone(language, config.TIME_ZONE);
    const today = wallClock(clock.now(), zone).date;
    const month = readMonth(request.query.month) ?? today.slice(0, 'YYYY-MM'.length);
    const startOf = (yearAndMonth: string) => toUtc(`${yearAndMonth}-01`, '00:00:00', zone).getTime();
    const planned = await ask(request, listPlanned, { from: startOf(month), until: startOf(monthAfter(month)) });
    const byDay = Map.groupBy(planned, ({ starts_at }) => wallClock(new Date(starts_at), zone).date);
    const frame = { title: language.say('nav.campaigns'), section: 'campaigns' } as const;
    const content = (
      <>
        <CampaignViews current="calendar" />
        <Month {...{ month, today, byDay, zone }} />
      </>
    );
    return sendPage(request, reply, viewer, frame, content);
  });
}

/** Returns the value if it is a month such as 2026-11; otherwise undefined. */
function readMonth(value: unknown): string | undefined {
  return typeof value === 'string' && /^(?:19|2\d)\d\d-(?:0[1-9]|1[0-2])$/.test(value) ? value : undefined;
}

function monthAfter(month: string): string {
  return addDays(`${month}-28`, TO_NEXT_MONTH).slice(0, month.length);
}

function monthBefore(month: string): string {
  return addDays(`${month}-01`, -1).slice(0, month.length);
}

/** Returns the days of a month in weeks from Monday to Sunday; null for days of other months. */
function weeksOf(month: string): (string | null)[][] {
  const first = `${month}-01`;
  const monday = addDays(first, 1 - weekdayOf(first));
  const weeks: (string | null)[][] = [];
  for (let day = monday; day < `${monthAfter(month)}-01`; day = addDays(day, DAYS_PER_WEEK))
    weeks.push(
      Array.from({ length: DAYS_PER_WEEK }, (_, at) => {
        const dayOfWeek = addDays(day, at);
        return dayOfWeek.startsWith(month) ? dayOfWeek : null;
      }),
    );
  return weeks;
}

interface MonthProps {
  month: string;
  today: string;
  byDay: ReadonlyMap<string, readonly PlannedCampaign[]>;
  zone: string;
}

function Month({ month, today, byDay, zone }: MonthProps) {
  const language = useLanguage();
  const name = language.month(month);
  const weeks = weeksOf(month);
  const path = '/campaigns/calendar';
  return (
    <>
      <nav class="calendar-head" aria-label={language.say('calendar.months')}>
        <h2>{name}</h2>
        <LinkButton look="plain" href={`${path}?month=${monthBefore(month)}`} label={language.say('calendar.before')} />
        <LinkButton look="plain" href={path} label={language.say('calendar.today')} />
        <LinkButton look="plain" href={`${path}?month=${monthAfter(month)}`} label={language.say('calendar.after')} />
        <span class="small quiet-text">{language.say('calendar.zone', { zone })}</span>
      </nav>
      {byDay.size === 0 && <p>{language.say('calendar.none')}</p>}
      <table class="calendar">
        <caption class="visually-hidden">{name}</caption>
        <thead>
          <tr>
            {/* The second week of a month has all its days. */}
            {(weeks[1] ?? []).map((day) => (
              <th key={day} scope="col">
                {day !== null && language.weekday(day)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {weeks.map((week) => (
            <tr key={week.find((day) => day !== null)}>
              {week.map((day, at) =>
                day === null ? (
                  <td key={at} class="outside" />
                ) : (
                  <Day key={day} {...{ day, zone }} isToday={day === today} campaigns={byDay.get(day) ?? []} />
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

interface DayProps {
  day: string;
  zone: string;
  isToday: boolean;
  campaigns: readonly PlannedCampaign[];
}

function Day({ day, zone, isToday, campaigns }: DayProps) {
  const language = useLanguage();
  const more = campaigns.slice(MAX_SHOWN);
  return (
    <td class={campaigns.length === 0 ? 'empty-day' : undefined} {...(isToday && { 'aria-current': 'date' as const })}>
      <time dateTime={day}>
        <span class="day-number" aria-hidden="true">
          {Number(day.slice(-2))}
        </span>
        <span class="day-name">
          {language.weekday(day)} {language.calendarDay(day)}
        </span>
      </time>
      <Planned campaigns={campaigns.slice(0, MAX_SHOWN)} zone={zone} />
      {more.length > 0 && (
        <details>
          <summary>{language.say('calendar.more', { count: more.length })}</summary>
          <Planned campaigns={more} zone={zone} />
        </details>
      )}
    </td>
  );
}

function Planned({ campaigns, zone }: Pick<DayProps, 'campaigns' | 'zone'>) {
  const language = useLanguage();
  if (campaigns.length === 0) return null;
  return (
    <ul>
      {campaigns.map(({ utr, name, state, starts_at: at }) => (
        <li key={utr}>
          <a href={`/campaigns/${utr}`} title={name}>
            <time dateTime={new Date(at).toISOString()}>{language.time(new Date(at), zone)}</time> <bdi>{name}</bdi>
          </a>
          <StateBadge state={state} />
        </li>
      ))}
    </ul>
  );
}
