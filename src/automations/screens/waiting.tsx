/** The people who wait for one mail of an automation. */
import type { FastifyInstance } from 'fastify';
import { Pager, Table } from '../../dashboard/components/table.tsx';
import { ask } from '../../dashboard/operations.ts';
import { sendPage } from '../../dashboard/page.tsx';
import { viewerOf } from '../../dashboard/signed-in.ts';
import { withQuery } from '../../dashboard/with-query.ts';
import { useLanguage } from '../../dashboard/words/index.ts';
import { READ } from '../../http/pages/layout.ts';
import type { ComposedParams } from '../../single-sends/screens/compose/composed.tsx';
import { listWaiting, type Waiting } from '../operations/schedules.ts';
import type { Series } from '../operations/series.ts';
import { automationAddress, BackToAutomation, mailAddress } from './changing.tsx';
import { AUTOMATION_MAIL, readMail } from './mail.tsx';

interface Call {
  Params: ComposedParams;
  Querystring: { after?: string };
}

export async function waitingScreen(app: FastifyInstance): Promise<void> {
  app.route<Call>({
    method: READ,
    url: `${AUTOMATION_MAIL.route}/waiting`,
    handler: async (request, reply) => {
      const { series, mail } = await readMail(request, request.params);
      const { after } = request.query;
      const { people, next_after_id: next } = await ask(request, listWaiting, {
        utr: mail.utr,
        ...(after !== undefined && { after_id: after }),
      });
      const frame = {
        title: mail.subject,
        section: 'automations',
        action: <BackToAutomation utr={series.utr} />,
      } as const;
      const href = mailAddress(series.utr, mail.utr, 'waiting');
      const pages = {
        first: after === undefined ? null : href,
        next: next === null ? null : withQuery(href, { after: String(next) }),
      };
      return sendPage(request, reply, viewerOf(request), frame, <People {...{ series, people, pages }} />);
    },
  });
}

interface PeopleProps {
  series: Series;
  people: readonly Waiting[];
  pages: { first: string | null; next: string | null };
}

function People({ series, people, pages }: PeopleProps) {
  const language = useLanguage();
  return (
    <>
      {people.length === 0 ? (
        <p>{language.say(pages.next === null ? 'automations.waiting.none' : 'automations.waiting.noneHere')}</p>
      ) : (
        <Table
          caption={language.say('automations.waiting.title')}
          rows={people}
          keyOf={({ id }) => id}
          columns={[
            {
              heading: language.say('automations.forecast.email'),
              cell: ({ contact_id: id, email }) =>
                id === null ? (
                  <bdi>{email}</bdi>
                ) : (
                  <a href={`/people/${id}`}>
                    <bdi>{email}</bdi>
                  </a>
                ),
            },
            {
              heading: language.say('automations.waiting.since'),
              cell: ({ waiting_since: at }) => language.dateTime(new Date(at)),
            },
            {
              heading: language.say('automations.waiting.due'),
              cell: ({ due_at: at, is_queued: isQueued }) =>
                isQueued === 1
                  ? language.say('automations.waiting.queued')
                  : series.is_live === 1
                    ? language.dateTime(new Date(at))
                    : language.say('automations.waiting.paused'),
            },
            {
              heading: language.say('automations.waiting.forecast'),
              cell: ({ email }) => (
                <a href={withQuery(automationAddress(series.utr), { email })}>
                  {language.say('automations.forecast.show')}
                </a>
              ),
            },
          ]}
        />
      )}
      <Pager {...pages} />
    </>
  );
}
