/** The operation that shows at which hours recipients would get a single send at their best hour, and for how many the hour is known. */
import { setImmediate } from 'node:timers/promises';
import Type, { type Static } from 'typebox';
import { findBestHours, type Person, prepareBestHours } from '../../delivery/queue/best-hours.ts';
import { MEMBERS } from '../../delivery/queue/enqueue-recipients.ts';
import { placeColumns } from '../../delivery/timing/place-zones.ts';
import { withinShare } from '../../http/account-share.ts';
import { described, identifier, integer } from '../../http/requests/schemas.ts';
import { operation } from '../../operations/operation.ts';
import { wallClock } from '../../time/zones.ts';
import { requireSingleSend } from '../single-sends.ts';

/** The maximum number of recipients whose best hours are looked up. */
const MAX_LOOKED_AT = 300;
/** The number of recipients who are looked up without a pause. */
const AT_ONCE = 50;

const BestHourPlan = Type.Object({
  looked_at: integer({
    description: `The number of recipients whose best hours were looked up: at most the first ${MAX_LOOKED_AT}.`,
  }),
  with_evidence: integer({
    description: 'The number of these recipients who have opened or clicked one of the last 20 e-mails themselves.',
  }),
  time_zone: Type.String({ description: 'The time zone of the hours.' }),
  hours: Type.Array(
    Type.Object({
      hour: integer({ description: 'The hour of the day, 0 to 23.' }),
      count: integer({ description: 'The number of these recipients who would get the e-mail in this hour.' }),
    }),
    {
      description:
        'The hours, the most frequent first. Recipients whose best hour is unknown get the e-mail at the start and are left out.',
    },
  ),
});
export type BestHourPlan = Static<typeof BestHourPlan>;

export const readBestHours = operation({
  name: 'Show at which hours the recipients of a single send would get it at their best hours (addition)',
  role: 'viewer',
  input: Type.Object({ utr: identifier('The single send.') }),
  output: Type.Object({ best_hours: described(BestHourPlan, 'The best hours of the first recipients.') }),
  async run({ db, config, clock, accountId }, { utr }) {
    const { recipient_id: targets } = requireSingleSend(db, accountId, utr);
    const client = db.$client;
    const zone = config.TIME_ZONE;
    const best_hours = await withinShare(accountId, async () => {
      const best = await prepareBestHours(client, accountId, { start: clock.now().getTime(), zone });
      const counts = new Map<number, number>();
      let looked_at = 0;
      let with_evidence = 0;
      for (const { table, id } of targets) {
        const members = client.prepare<object, Person>(`
          SELECT d.address_id, c.contact_type_id AS list, ${placeColumns(client, accountId, 'c')}
          FROM (${MEMBERS[table]} ORDER BY p.address_id LIMIT @rows) d LEFT JOIN contacts c ON c.id = d.contact_id`);
        for (let after = 0; looked_at < MAX_LOOKED_AT; await setImmediate()) {
          const people = members.all({ target: id, after, rows: Math.min(AT_ONCE, MAX_LOOKED_AT - looked_at) });
          const last = people.at(-1);
          if (last === undefined) break;
          after = last.address_id;
          looked_at += people.length;
          for (const best_hour of findBestHours(client, best, people)) {
            if (best_hour === null) continue;
            if (best_hour.evidence > 0) with_evidence++;
            const hour = Number(wallClock(new Date(best_hour.at), zone).time.slice(0, 2));
            counts.set(hour, (counts.get(hour) ?? 0) + 1);
          }
        }
      }
      const hours = [...counts].map(([hour, count]) => ({ hour, count })).sort((a, b) => b.count - a.count);
      return { looked_at, with_evidence, time_zone: zone, hours };
    });
    return { best_hours };
  },
});
