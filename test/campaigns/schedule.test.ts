import fc from 'fast-check';
import t from 'tap';
import { parseScheduleDate, parseScheduleTime } from '../../src/campaigns/schedule.ts';
import { toUtc } from '../../src/time/zones.ts';
import { DAY_MS } from '../../src/units.ts';

t.test('dates', async (t) => {
  const cases: [text: string, date: string | null][] = [
    ['2026-03-01', '2026-03-01'],
    ['26-3-1', '2026-03-01'],
    ['26-03-01', '2026-03-01'],
    ['2026-3-1', '2026-03-01'],
    ['2028-02-29', '2028-02-29'],
    ['00-1-1', '2000-01-01'],
    ['2026-02-29', null],
    ['2100-02-29', null],
    ['2026-04-31', null],
    ['2026-13-01', null],
    ['2026-00-10', null],
    ['2026-01-00', null],
    ['2026-01-32', null],
    ['0000-00-00', null],
    ['0000-01-01', null],
    ['126-1-1', null],
    ['6-1-1', null],
    ['12026-01-01', null],
    ['2026-001-1', null],
    ['2026/03/01', null],
    ['01.03.2026', null],
    ['2026-03', null],
    ['2026-03-01T00:00', null],
    [' 2026-03-01', null],
    ['2026-03-01\n', null],
    ['2026-+3-1', null],
    ['-2026-03-01', null],
    ['٢٠٢٦-03-01', null],
    ['', null],
  ];
  for (const [text, date] of cases) t.equal(parseScheduleDate(text), date, JSON.stringify(text));
});

t.test('times', async (t) => {
  const cases: [text: string, time: string | null][] = [
    ['09:30', '09:30:00'],
    ['09:30:15', '09:30:15'],
    ['00:00', '00:00:00'],
    ['23:59:59', '23:59:59'],
    ['24:00', null],
    ['23:60', null],
    ['23:59:60', null],
    ['9:30', null],
    ['0930', null],
    ['09:30 PM', null],
    ['09:30:', null],
    ['09:30:15.5', null],
    ['09:30Z', null],
    ['-1:30', null],
    ['09:30\n', null],
    ['', null],
  ];
  for (const [text, time] of cases) t.equal(parseScheduleTime(text), time, JSON.stringify(text));
});

t.test('the UTC time of a local time', async (t) => {
  const cases: [why: string, zone: string, local: string, utc: string][] = [
    ['UTC', 'UTC', '2026-03-01 12:00:00', '2026-03-01T12:00:00'],
    ['winter', 'Europe/Berlin', '2026-03-01 12:00:00', '2026-03-01T11:00:00'],
    ['summer', 'Europe/Berlin', '2026-07-01 12:00:05', '2026-07-01T10:00:05'],
    ['the day before', 'Pacific/Auckland', '2026-01-01 00:00:00', '2025-12-31T11:00:00'],
    ['three quarters of an hour', 'Asia/Kathmandu', '2026-01-01 00:00:00', '2025-12-31T18:15:00'],
    ['far ahead', 'Pacific/Kiritimati', '2026-01-01 00:00:00', '2025-12-31T10:00:00'],
    ['far behind', 'Pacific/Niue', '2026-01-01 00:00:00', '2026-01-01T11:00:00'],
    ['just before the gap', 'Europe/Berlin', '2026-03-29 01:59:59', '2026-03-29T00:59:59'],
    ['the gap begins: 02:00 is 03:00', 'Europe/Berlin', '2026-03-29 02:00:00', '2026-03-29T01:00:00'],
    ['in the gap: 02:30 is 03:30', 'Europe/Berlin', '2026-03-29 02:30:00', '2026-03-29T01:30:00'],
    ['just after the gap', 'Europe/Berlin', '2026-03-29 03:00:00', '2026-03-29T01:00:00'],
    ['just before the overlap', 'Europe/Berlin', '2026-10-25 01:59:59', '2026-10-24T23:59:59'],
    ['in the overlap: the first', 'Europe/Berlin', '2026-10-25 02:30:00', '2026-10-25T00:30:00'],
    ['the overlap is over', 'Europe/Berlin', '2026-10-25 03:00:00', '2026-10-25T02:00:00'],
    ['a gap west of Greenwich', 'America/New_York', '2026-03-08 02:30:00', '2026-03-08T07:30:00'],
    ['an overlap west of Greenwich', 'America/New_York', '2026-11-01 01:30:00', '2026-11-01T05:30:00'],
    ['a gap of half an hour', 'Australia/Lord_Howe', '2026-10-04 02:15:00', '2026-10-03T15:45:00'],
    ['an overlap of half an hour', 'Australia/Lord_Howe', '2026-04-05 01:45:00', '2026-04-04T14:45:00'],
    ['a gap at midnight', 'Asia/Beirut', '2026-03-29 00:10:00', '2026-03-28T22:10:00'],
    ['a day that was skipped', 'Pacific/Apia', '2011-12-30 12:00:00', '2011-12-30T22:00:00'],
    ['the last second of four-digit years', 'Europe/Berlin', '9999-12-31 23:59:59', '9999-12-31T22:59:59'],
  ];
  for (const [why, zone, local, utc] of cases) {
    const [date = '', time = ''] = local.split(' ');
    t.equal(toUtc(date, time, zone).toISOString(), `${utc}.000Z`, why);
  }
});

/** The local time at a moment, computed in another way than in the code under test. */
function wallClock(zone: string): (moment: number) => string {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });
  return (moment) => format.format(moment);
}

function localTime(wall: number): { date: string; time: string } {
  const [date = '', time = ''] = new Date(wall).toISOString().slice(0, 19).split('T');
  return { date, time };
}

/** The last minute before the zone's next change of offset after a moment, or null if there is none within a year. */
function nextJump(shows: (moment: number) => string, from: number): number | null {
  const offset = (moment: number) => Date.parse(`${shows(moment).replace(' ', 'T')}Z`) - moment;
  let low = from;
  while (offset(low + DAY_MS) === offset(low)) {
    low += DAY_MS;
    if (low - from > 366 * DAY_MS) return null;
  }
  let high = low + DAY_MS;
  while (high - low > 60_000) {
    const middle = low + Math.floor((high - low) / 120_000) * 60_000;
    if (offset(middle) === offset(low)) low = middle;
    else high = middle;
  }
  return low;
}

const zone = fc.constantFrom(...Intl.supportedValuesOf('timeZone'));
const wallMinute = fc
  .integer({ min: Date.UTC(1975, 0, 1) / 60_000, max: Date.UTC(2060, 0, 1) / 60_000 })
  .map((minute) => minute * 60_000);

t.test('property: a local time that exists means the first moment at which it occurs', async () => {
  fc.assert(
    fc.property(
      zone,
      wallMinute,
      fc.boolean(),
      fc.integer({ min: -180, max: 180 }),
      (zone, anyWall, nearJump, minutes) => {
        const shows = wallClock(zone);
        const jump = nearJump ? nextJump(shows, anyWall) : null;
        const wall = jump === null ? anyWall : Date.parse(`${shows(jump).replace(' ', 'T')}Z`) + minutes * 60_000;
        const { date, time } = localTime(wall);
        const moment = toUtc(date, time, zone).getTime();
        const shownAt: number[] = [];
        for (let at = wall - 16 * 3_600_000; at <= wall + 16 * 3_600_000; at += 60_000) {
          if (shows(at) === `${date} ${time}`) shownAt.push(at);
        }
        if (shownAt.length > 0) return shownAt[0] === moment;
        // The local time is skipped: the result is later, by less than a day and an hour.
        const instead = Date.parse(`${shows(moment).replace(' ', 'T')}Z`);
        return instead > wall && instead - wall <= DAY_MS;
      },
    ),
    { numRuns: 150 },
  );
});

t.test('property: of two local times that exist, the later one is not earlier in UTC', async () => {
  fc.assert(
    fc.property(zone, wallMinute, fc.integer({ min: 1, max: 3 * 1440 }), (zone, wall, minutes) => {
      const shows = wallClock(zone);
      const moments = [wall, wall + minutes * 60_000].map((wall) => {
        const { date, time } = localTime(wall);
        const moment = toUtc(date, time, zone).getTime();
        return shows(moment) === `${date} ${time}` ? moment : null;
      });
      const [first = null, second = null] = moments;
      return first === null || second === null || first < second;
    }),
    { numRuns: 2000 },
  );
});

t.test('property: every spelling of a real date is accepted, and nothing else', async () => {
  const digits = fc.integer({ min: 0, max: 40 });
  fc.assert(
    fc.property(fc.integer({ min: 2000, max: 2099 }), digits, digits, (year, month, day) => {
      const moment = new Date(Date.UTC(year, month - 1, day));
      const real =
        moment.getUTCMonth() === month - 1 && moment.getUTCDate() === day && moment.getUTCFullYear() === year;
      const [mm, dd] = [month, day].map((part) => String(part).padStart(2, '0'));
      const expected = real ? `${year}-${mm}-${dd}` : null;
      const spellings = [`${year}-${mm}-${dd}`, `${year % 100}`.padStart(2, '0').concat(`-${month}-${day}`)];
      return spellings.every((text) => parseScheduleDate(text) === expected);
    }),
    { numRuns: 2000 },
  );
});

t.test('property: any text gives null or a normal form, which parses to itself', async () => {
  const text = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...'0123459-:') }));
  fc.assert(
    fc.property(text, (text) => {
      const date = parseScheduleDate(text);
      const time = parseScheduleTime(text);
      return (date === null || parseScheduleDate(date) === date) && (time === null || parseScheduleTime(time) === time);
    }),
    { numRuns: 2000 },
  );
});
