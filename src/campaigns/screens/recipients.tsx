/**
 * The page of the recipients of a campaign, each with the result and its reason. It is filtered by state, reason, clicked link, activity,
 * domain, or the beginning of the address.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { VNode } from 'preact';
import type { Static } from 'typebox';
import { listContactTypes } from '../../audience/contact-types/operations.ts';
import { SHOWN_DELIVERY_STATES, type ShownDeliveryState } from '../../delivery/reporting/mailing-report.ts';
import { RECIPIENT_ACTIVITIES, type RecipientActivity } from '../../delivery/reporting/recipients.ts';
import { MAX_LINE_CHARACTERS } from '../../errors/field-errors.ts';
import { readStored } from '../../errors/stored.ts';
import { sendLongCsv } from '../../http/list-response.ts';
import { type ByUtr, pageRoute } from '../../http/pages/layout.ts';
import type { Clock } from '../../time/clock.ts';
import { Button, LinkButton } from '../../ui/components/button.tsx';
import { DeliveryBadge } from '../../ui/components/campaign-state.tsx';
import { Time } from '../../ui/components/figures.tsx';
import { NothingFound } from '../../ui/components/surface.tsx';
import { numberColumn, Pager, SearchForm, Table } from '../../ui/components/table.tsx';
import { ask } from '../../ui/operations.ts';
import { recordTime } from '../../ui/record-time.ts';
import { viewerOf } from '../../ui/signed-in.ts';
import { withQuery } from '../../ui/with-query.ts';
import { type Language, useLanguage } from '../../ui/words/index.ts';
import { exportRecipientsOf, findRecipientsOf, readReport, readSummary, type Summary } from '../operations/reports.ts';
import { sendPart } from './campaign.tsx';

type FoundPage = Static<typeof findRecipientsOf.output>;

/** The number of recipients on a page, as many as two screens of a phone show. */
const ROWS = 18;
const FILE_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

/** The filter of recipients. */
interface Filter {
  /** The beginning of the address. */
  search?: string;
  state?: ShownDeliveryState;
  reason?: string;
  link?: string;
  did?: RecipientActivity;
  domain?: string;
}

/** Registers the page of the recipients, and the route of the CSV file. */
export async function recipientsScreen(app: FastifyInstance, { clock }: { clock: Clock }): Promise<void> {
  pageRoute<ByUtr & { Querystring: Record<string, string | undefined> }>(
    app,
    '/campaigns/:utr/recipients',
    async (request, reply) => {
      const { utr } = request.params;
      const summary = await ask(request, readSummary, { utr });
      const filter = readFilter(request.query);
      const { after } = request.query;
      const page = await ask(request, findRecipientsOf, {
        utr,
        ...filter,
        ...(after && { after }),
        limit: ROWS,
      });
      const links = filter.link === undefined ? [] : (await ask(request, readReport, { utr })).report.links;
      const link = links.find(({ number }) => String(number) === filter.link)?.url ?? filter.link;
      const now = clock.now();
      const action = summary.recipients > 0 && <ExportLink href={listAddress(utr, filter, '/recipients.csv')} />;
      const content = (
        <Recipients
          {...page}
          startsAt={summary.starts_at}
          utr={utr}
          filter={filter}
          link={link}
          isLater={Boolean(after)}
          now={now}
          canReadMails={viewerOf(request).role !== 'viewer'}
          save={viewerOf(request).role === 'viewer' ? null : await segmentForm(request, summary, filter, link)}
        />
      );
      return sendPart(request, reply, { summary, now, current: 'recipients' }, content, action);
    },
  );

  app.get<ByUtr & { Querystring: Record<string, string | undefined> }>(
    '/campaigns/:utr/recipients.csv',
    async (request, reply) => {
      const query = { utr: request.params.utr, ...readFilter(request.query) };
      const csv = await ask(request, exportRecipientsOf, query);
      return sendLongCsv(reply.headers(FILE_HEADERS), csv, 'recipients.csv');
    },
  );
}

/** Returns the filter in the URL of a page, without empty and unknown parameters. */
function readFilter({ search, state, reason, link, did, domain }: Record<string, string | undefined>): Filter {
  const activity = RECIPIENT_ACTIVITIES.find((name) => name === did);
  const knownState = SHOWN_DELIVERY_STATES.find((name) => name === state);
  return {
    ...(search && { search }),
    ...(knownState && { state: knownState }),
    ...(reason && { reason }),
    ...(link && /^\d{1,6}$/.test(link) && { link }),
    ...(activity && { did: activity }),
    ...(domain && { domain }),
  };
}

/** Returns the URL of the page or file with the recipients who pass a filter. */
function listAddress(utr: string, filter: Filter & { after?: string }, page = '/recipients'): string {
  return withQuery(`/campaigns/${utr}${page}`, { ...filter });
}

/** The operator of a segment rule about a mail, for each state and activity of a filter. No rule finds contacts who still wait for the mail. */
const OPERATORS = {
  accepted: 'got',
  kept: 'got',
  bounced: 'bounced',
  failed: 'failed',
  suppressed: 'was skipped',
  cancelled: 'was cancelled',
  opened: 'opened',
  clicked: 'clicked',
  unsubscribed: 'unsubscribed',
} as const;

/** A rule of a segment in the fields of the form for segments. */
type FormRule = [field: string, operator: string, value: string, until?: string | undefined];

/** Returns the rules of a segment that find the same contacts as a filter; null if no rules can find them. */
function rulesOf(utr: string, { search, state, reason, link, did, domain }: Filter): FormRule[] | null {
  if (state === 'queued' || state === 'sending') return null;
  const mailRule = (operator: string, until?: string): FormRule => ['activity.mail', operator, utr, until];
  const addressRule = (operator: string, text: string): FormRule => ['email', operator, text];
  const mailRules: FormRule[] = [
    ...(state ? [mailRule(OPERATORS[state])] : []),
    ...(did ? [mailRule(OPERATORS[did])] : []),
    ...(reason ? [mailRule('did not arrive because', reason)] : []),
    ...(link ? [mailRule('clicked the link', link)] : []),
  ];
  return [
    ...(mailRules.length > 0 ? mailRules : [mailRule('was a recipient')]),
    ...(search ? [addressRule('starts with', search)] : []),
    ...(domain ? [addressRule('ends with', `@${domain}`)] : []),
  ];
}

/** Returns the form that saves the contacts who pass a filter as a segment; null if no rules of a segment can find them. */
async function segmentForm(
  request: FastifyRequest,
  summary: Summary,
  filter: Filter,
  link: string | undefined,
): Promise<VNode | null> {
  const rules = rulesOf(summary.utr, filter);
  if (rules === null || summary.recipients === 0) return null;
  const lists = await ask(request, listContactTypes, {});
  return <SaveSegment {...{ summary, rules, filter, link, lists }} />;
}

interface SaveSegmentProps {
  summary: Summary;
  rules: readonly FormRule[];
  filter: Filter;
  /** The URL of the link in the filter. */
  link: string | undefined;
  lists: readonly { id: number; name: string }[];
}

function SaveSegment({ summary, rules, filter, link, lists }: SaveSegmentProps) {
  const language = useLanguage();
  const parts = shownFilter(language, filter, link).map(([, value]) => value);
  const segmentName = [summary.single_send_name, parts.join(', ') || language.say('campaigns.recipients')].join(': ');
  const values = {
    ...Object.fromEntries(
      rules.flatMap(([field, operator, value, until = ''], at) => [
        [`field${at}`, field],
        [`operator${at}`, operator],
        [`value${at}`, value],
        [`until${at}`, until],
      ]),
    ),
    query_type: 'and',
    segment_name: segmentName.slice(0, MAX_LINE_CHARACTERS),
  };
  const campaignList = summary.recipient_id.find((target) => target.startsWith('contacts_'));
  return (
    <form method="post" action="/contacts/segments/new" class="search">
      {Object.entries(values).map(([key, value]) => (
        <input key={key} type="hidden" name={key} value={value} />
      ))}
      <select name="contact_type_id" aria-label={language.say('recipients.segment.list')}>
        {lists.map(({ id, name }) => (
          <option key={id} value={id} selected={campaignList === `contacts_${id}`}>
            {name}
          </option>
        ))}
      </select>
      <Button look="plain" name="do" value="save" label={language.say('recipients.segment.save')} />
    </form>
  );
}

/** Returns the parts of a filter in words, each with a heading, which is empty for a part that needs none. */
function shownFilter(language: Language, filter: Filter, link: string | undefined): [heading: string, value: string][] {
  const { search, state, reason, did, domain } = filter;
  const parts: [heading: string, value: string][] = [];
  if (state) parts.push([language.say('word.status'), language.say(`delivery.${state}`)]);
  if (reason) parts.push([language.say('campaigns.reason'), language.sentence(readStored(reason))]);
  if (link) parts.push([language.say('recipients.ofLink'), link]);
  if (did) parts.push(['', language.say(`recipients.did.${did}`)]);
  if (domain) parts.push([language.say('campaigns.domains.domain'), domain]);
  if (search) parts.push([language.say('recipients.search'), `${search}…`]);
  return parts;
}

function ExportLink({ href }: { href: string }) {
  return <LinkButton href={href} look="plain" label={useLanguage().say('recipients.export')} />;
}

interface RecipientsProps extends FoundPage {
  startsAt: string;
  utr: string;
  filter: Filter;
  /** The URL of the link in the filter. */
  link: string | undefined;
  /** True if this is not the first page. */
  isLater: boolean;
  now: Date;
  /** True if the user may read sent mails. */
  canReadMails: boolean;
  /** The form that saves the recipients as a segment; null if rules cannot find them, or the user may not change anything. */
  save: VNode | null;
}

function Recipients({
  recipients,
  next,
  events_removed_before: removed,
  startsAt,
  utr,
  filter,
  link,
  isLater,
  now,
  canReadMails,
  save,
}: RecipientsProps) {
  const language = useLanguage();
  // The fields of the search form show `search` and `state`, so the line below the form shows only the other parts of the filter.
  const { search: _, state: __, ...otherParts } = filter;
  const filterTexts = shownFilter(language, otherParts, link);
  const href = (after?: string) => listAddress(utr, { ...filter, ...(after !== undefined && { after }) });
  return (
    <>
      <SearchForm
        name="search"
        label={language.say('recipients.search')}
        find={language.say('word.find')}
        value={filter.search ?? ''}
      >
        <select name="state" aria-label={language.say('word.status')}>
          <option value="">{language.say('word.status.any')}</option>
          {SHOWN_DELIVERY_STATES.map((name) => (
            <option key={name} value={name} selected={name === filter.state}>
              {language.say(`delivery.${name}`)}
            </option>
          ))}
        </select>
        {filter.reason && <input type="hidden" name="reason" value={filter.reason} />}
        {filter.link && <input type="hidden" name="link" value={filter.link} />}
        {filter.did && <input type="hidden" name="did" value={filter.did} />}
        {filter.domain && <input type="hidden" name="domain" value={filter.domain} />}
      </SearchForm>
      {filterTexts.length > 0 && (
        <p class="small">
          {filterTexts.map(([heading, value]) => (
            <>
              {heading && `${heading}: `}
              <bdi>{value}</bdi>{' '}
            </>
          ))}
          <a href={`/campaigns/${utr}/recipients`}>{language.say('recipients.all')}</a>
        </p>
      )}
      {save}
      {link && removed !== null && startsAt < removed && (
        <p class="quiet-text">{language.say('recipients.eventsRemoved', { day: language.date(new Date(removed)) })}</p>
      )}
      {recipients.length > 0 && <FoundRecipients {...{ utr, recipients, now, canReadMails }} />}
      {recipients.length === 0 && next === null && (
        <NothingFound title={language.say('recipients.none')} all={`/campaigns/${utr}/recipients`} />
      )}
      {recipients.length === 0 && next !== null && <p>{language.say('recipients.noneHere')}</p>}
      <Pager first={isLater ? href() : null} next={next === null ? null : href(next)} />
    </>
  );
}

type Recipient = FoundPage['recipients'][number];

function FoundRecipients({
  utr,
  recipients,
  now,
  canReadMails,
}: Pick<RecipientsProps, 'utr' | 'recipients' | 'now' | 'canReadMails'>) {
  const language = useLanguage();
  return (
    <Table
      isBrief
      caption={language.say('campaigns.recipients')}
      rows={recipients}
      keyOf={({ id }) => id}
      columns={[
        {
          heading: language.say('recipients.email'),
          cell: ({ email, contact_id: id }) => <Address email={email} contactId={id} />,
        },
        {
          heading: language.say('word.status'),
          cell: ({ state }) => <DeliveryBadge state={state} />,
        },
        {
          heading: language.say('recipients.why'),
          // For a mail in the test outbox, the state already says where the mail is, so the reply is left out.
          cell: ({ email, state, reply }) => (
            <span class="small">
              <bdi>{state === 'kept' ? '' : language.sentence(reply ?? '')}</bdi>{' '}
              <a href={withQuery(`/campaigns/${utr}/why`, { email })} aria-label={language.say('why.of', { email })}>
                {language.say('why.link')}
              </a>
            </span>
          ),
        },
        numberColumn(language, 'campaigns.opens', 'opens'),
        numberColumn(language, 'campaigns.clicks', 'clicks'),
        {
          heading: language.say('recipients.when'),
          cell: ({ updated_at: at }) => <Time at={recordTime(at)} now={now} />,
        },
        ...(canReadMails && recipients.some(({ kept_mail_id: kept }) => kept !== null)
          ? [
              {
                heading: language.say('sentMails.title'),
                cell: ({ kept_mail_id: kept }: Recipient) =>
                  kept !== null && <a href={`/deliveries/${kept}`}>{language.say('recipients.mail')}</a>,
              },
            ]
          : []),
      ]}
    />
  );
}

/** The address of a recipient, with a link to the contact if the contact still exists. */
function Address({ email, contactId }: { email: string; contactId: number | null }) {
  const address = <bdi>{email}</bdi>;
  return contactId === null ? address : <a href={`/contacts/${contactId}`}>{address}</a>;
}
