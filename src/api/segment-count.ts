/** Who the rules of a segment match, before it is stored (an addition). */
import { setImmediate } from 'node:timers/promises';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { listCustomFields } from '../audience/contacts/contact-fields.ts';
import { ContactFinder } from '../audience/search/find-contacts.ts';
import { Pace } from '../audience/search/pace.ts';
import { countMailsRules, namedFinder } from '../audience/segments/activity-rules.ts';
import { parseRules } from '../audience/segments/rules.ts';
import { isoTimestamp } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { integer, nullable, successWith, text } from '../http/requests/schemas.ts';
import { check } from '../http/requests/validation.ts';
import { checkSegmentRules, segmentRuleProperties } from './segment-rules.ts';

const CountQuery = Type.Object({
  ...segmentRuleProperties,
  after: Type.Optional(text({ maxLength: 300, description: '`next` of the answer before.' })),
});
const Match = Type.Object({ id: integer(), fullname: Type.String(), email: Type.String() });

/** How long a request counts. */
const COUNT_MS = 200;
const SHOWN = 10;
/** Contacts that the first step looks at where rules look at many mailings for each. */
const FEW = 10;
const COLUMNS = "c.id, trim(c.first_name || ' ' || c.last_name), c.email";

export const segmentCountRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { db, clock }) => {
  app.get(
    '/segment/count',
    {
      schema: {
        tags: ['Segments'],
        summary: 'Count the contacts that rules match, without storing them (addition)',
        description:
          'Counts for a fifth of a second and answers the first ten. Where contacts are left to look at, next is where to go on: ask again with it as after, and add up the counts.',
        querystring: CountQuery,
        response: successWith({ count: integer(), contacts: Type.Array(Match), next: nullable(Type.String()) }),
      },
      config: {
        check: check(CountQuery, (query, errors, { accountId }) => checkSegmentRules(db, accountId, query, errors)),
      },
    },
    async (request) => {
      const { contact_type_id: typeId, query_type, after } = request.query;
      const { rules } = parseRules(
        listCustomFields(db, request.accountId),
        request.query,
        namedFinder(db, request.accountId),
      );
      const filter = { accountId: request.accountId, typeId, rules, queryType: query_type || null };
      const finder = new ContactFinder(db, filter, 'newest', isoTimestamp(clock.now()));
      const pace = countMailsRules(rules) > 0 ? new Pace(FEW) : new Pace();
      const contacts: { id: number; fullname: string; email: string }[] = [];
      let count = 0;
      let next: string | null = after || null;
      const isListed = next === null;
      for (const until = performance.now() + COUNT_MS; ; await setImmediate()) {
        // After each step other requests are served.
        const step = pace.step((candidates) => {
          if (!isListed || contacts.length === SHOWN) return finder.count(next, candidates);
          const found = finder.step(next, COLUMNS, SHOWN - contacts.length, candidates);
          for (const [id, fullname, email] of found.rows)
            contacts.push({ id: Number(id), fullname: String(fullname), email: String(email) });
          return { count: found.rows.length, next: found.next };
        });
        count += step.count;
        next = step.next;
        if (next === null || performance.now() > until) break;
      }
      return { status: 'success' as const, message: { count, contacts, next } };
    },
  );
};
