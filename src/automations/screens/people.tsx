/**
 * The contacts in an automation: the list of contacts who wait for one of its mails, and the forecast for one contact.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ComposedParams } from '../../campaigns/screens/compose/mail-content.tsx';
import { AddressForm } from '../../campaigns/screens/why.tsx';
import { pageRoute } from '../../http/pages/layout.ts';
import { Time } from '../../ui/components/figures.tsx';
import { plainSubject, Subject } from '../../ui/components/subject.tsx';
import { Badge, Card, type Tone } from '../../ui/components/surface.tsx';
import { NamedLink, Pager, Table } from '../../ui/components/table.tsx';
import { ask, attempt } from '../../ui/operations.ts';
import { languageOf } from '../../ui/page.tsx';
import { viewerOf } from '../../ui/signed-in.ts';
import { withQuery } from '../../ui/with-query.ts';
import { useLanguage } from '../../ui/words/index.ts';
import type { Series } from '../operations/automations.ts';
import { type Forecast, previewAutomation } from '../operations/forecast.ts';
import { listWaiting, type Waiting } from '../operations/mails.ts';
import { automationAddress, mailAddress, sendAutomationPage } from './changing.tsx';
import { AUTOMATION_MAIL, readMail } from './mail.tsx';

interface Call {
  Params: ComposedParams;
  Querystring: { after?: string };
}

/** Registers the page of the contacts who wait for a mail. */
export async function waitingScreen(app: FastifyInstance): Promise<void> {
  pageRoute<Call>(app, `${AUTOMATION_MAIL.route}/waiting`, async (request, reply) => {
    const { series, mail } = await readMail(request, request.params);
    const { after } = request.query;
    const { people, next_after_id: next } = await ask(request, listWaiting, {
      utr: mail.utr,
      ...(after !== undefined && { after_id: after }),
    });
    const title = plainSubject(languageOf(request, viewerOf(request)), mail.subject);
    const href = mailAddress(series.utr, mail.utr, 'waiting');
    const pages = {
      first: after === undefined ? null : href,
      next: next === null ? null : withQuery(href, { after: String(next) }),
    };
    return sendAutomationPage(request, reply, { utr: series.utr, title }, <People {...{ series, people, pages }} />);
  });
}

interface PeopleProps {
  series: Series;
  people: readonly Waiting[];
  /** The URLs of the first and the next page; null if there is no such page. */
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
              heading: language.say('word.email'),
              cell: (person) => <ContactLink {...person} />,
            },
            {
              heading: language.say('automations.waiting.since'),
              cell: ({ waiting_since: at }) => language.dateTime(new Date(at)),
            },
            {
              heading: language.say('automations.waiting.due'),
              cell: ({ due_at, is_queued }) => {
                if (is_queued === 1) return language.say('automations.waiting.queued');
                if (series.is_live === 0) return language.say('automations.waiting.paused');
                return language.dateTime(new Date(due_at));
              },
            },
            {
              heading: language.say('automations.waiting.forecast'),
              cell: ({ email }) => (
                <a href={withQuery(automationAddress(series.utr), { email })}>{language.say('compose.check.see')}</a>
              ),
            },
          ]}
        />
      )}
      <Pager {...pages} />
    </>
  );
}

/** The address of a contact, with a link to the contact unless it was deleted. */
export function ContactLink({ contact_id: id, email }: Pick<Waiting, 'contact_id' | 'email'>) {
  return id === null ? <bdi>{email}</bdi> : <NamedLink href={`/contacts/${id}`} name={email} />;
}

const TONES: Readonly<Record<Forecast['state'], Tone>> = {
  waiting: 'busy',
  finished: 'good',
  left: 'warn',
  outside: 'plain',
};

/** Reads the forecast for an address, as if the automation were live; if `email` is empty, for any contact who enters now. */
export function readForecast(request: FastifyRequest, utr: string, email: string) {
  return attempt(request, previewAutomation, { utr, if_live: 1, ...(email.trim() !== '' && { email }) });
}

interface PersonForecastProps {
  email: string;
  forecast: Awaited<ReturnType<typeof readForecast>>;
  now: Date;
  /** True if the automation is not live. Then the page shows what would happen if it were started now. */
  isTrial: boolean;
}

/** The form for an address, and the mails of this contact with their times; without an address, of any contact who enters now. */
export function PersonForecast({ email, forecast, now, isTrial }: PersonForecastProps) {
  const language = useLanguage();
  const hasMails = 'output' in forecast && forecast.output.preview.mails.length > 0;
  return (
    <Card title={language.say('automations.forecast.title')}>
      <p class="quiet-text">{language.say('automations.forecast.about')}</p>
      <AddressForm email={email} problems={'problems' in forecast ? forecast.problems : {}} />
      {hasMails && isTrial && <p>{language.say('automations.forecast.trial')}</p>}
      {hasMails && email === '' && <p>{language.say('automations.forecast.anybody')}</p>}
      {'output' in forecast && <Timeline forecast={forecast.output.preview} now={now} isAnybody={email === ''} />}
    </Card>
  );
}

function Timeline({
  forecast: { state, reason, entered_at, awaits, change, mails },
  now,
  isAnybody,
}: {
  forecast: Forecast;
  now: Date;
  isAnybody: boolean;
}) {
  const language = useLanguage();
  const getsMore = isAnybody || (state === 'waiting' && reason === null);
  const lastTimed = mails.findLastIndex(({ sent_at, due_at }) => sent_at !== null || due_at !== null);
  return (
    <>
      {!isAnybody && (
        <p>
          <Badge tone={TONES[state]}>{language.say(`automations.forecast.${state}`)}</Badge>{' '}
          {reason !== null && <span class="capitalized">{language.fullSentence(reason)}</span>}
        </p>
      )}
      {[awaits, change].map((said) => said !== null && <p key={String(said)}>{language.sentence(said)}</p>)}
      <ol class="timeline">
        {entered_at !== null && (
          <li>
            <Time at={new Date(entered_at)} /> {language.say('automations.forecast.entered')}
          </li>
        )}
        {mails.map(({ utr, subject, sent_at, due_at }, at) => (
          <li key={utr} class={sent_at === null ? 'future' : undefined}>
            {sent_at !== null ? (
              <>
                <Time at={new Date(sent_at)} /> {language.say('automations.forecast.sent')}
              </>
            ) : due_at !== null ? (
              <>
                {language.say('automations.forecast.due')} <Time at={new Date(due_at)} /> (
                <Time at={new Date(due_at)} now={now} />)
              </>
            ) : (
              language.say(getsMore && at > lastTimed ? 'automations.forecast.open' : 'automations.forecast.never')
            )}
            <br />
            <Subject text={subject} />
          </li>
        ))}
      </ol>
    </>
  );
}
