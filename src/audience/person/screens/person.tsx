/** One contact: its fields, groups and segments, the timeline, the data export, and erasing it. */
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import { shownDeliveryState } from '../../../delivery/reporting/mailing-report.ts';
import { type ById, pageRoute } from '../../../http/pages/layout.ts';
import { Button, LinkButton } from '../../../ui/components/button.tsx';
import { Confirm } from '../../../ui/components/confirm.tsx';
import { SelectField } from '../../../ui/components/field.tsx';
import { Stats, Time } from '../../../ui/components/figures.tsx';
import { plainSubject } from '../../../ui/components/subject.tsx';
import { Badge, Card, Notice, type Tone } from '../../../ui/components/surface.tsx';
import { Pager } from '../../../ui/components/table.tsx';
import { setFlash } from '../../../ui/flash.ts';
import { ask, attempt } from '../../../ui/operations.ts';
import { languageOf, sendPage } from '../../../ui/page.tsx';
import { requireEditor, viewerOf } from '../../../ui/signed-in.ts';
import { texts } from '../../../ui/submitted.ts';
import { withQuery } from '../../../ui/with-query.ts';
import { type Language, type PlainKey, useLanguage } from '../../../ui/words/index.ts';
import { fieldLabel, fieldText, knownWord, languageNamer } from '../../../ui/words/known.ts';
import { RESERVED_FIELDS } from '../../contacts/contact-fields.ts';
import type { Contact } from '../../contacts/operations.ts';
import { unsubscribeFromAll, unsubscribeFromGroup } from '../../unsubscribed/entries.ts';
import { listGroups } from '../../unsubscribed/groups.ts';
import {
  type Engagement,
  erase,
  exportPerson,
  type Moment,
  type Person,
  readPerson,
  readTimeline,
} from '../operations.ts';

type Group = Static<typeof listGroups.record>;

interface Call extends ById {
  Querystring: Record<string, unknown>;
}

/** Registers the page of a contact, and its actions. */
export async function personScreen(app: FastifyInstance): Promise<void> {
  pageRoute<Call>(app, '/contacts/:id', async (request, reply) => {
    const viewer = viewerOf(request);
    const language = languageOf(request, viewer);
    const contact_id = request.params.id;
    const [after] = texts(request.query.after);
    const [{ person, engagement }, groups, timeline] = await Promise.all([
      ask(request, readPerson, { contact_id }),
      ask(request, listGroups, {}),
      ask(request, readTimeline, { contact_id, after }),
    ]);
    const here = `/contacts/${encodeURIComponent(contact_id)}`;
    const name = person.contacts.map(({ fullname }) => fullname).find((text) => text !== '');
    const title = name ?? person.email;
    const action = <LinkButton look="plain" href={`${here}/export`} label={language.say('person.export')} />;
    return sendPage(
      request,
      reply,
      viewer,
      { title, section: 'contacts', back: { href: '/contacts', label: 'nav.contacts' }, action },
      <>
        <Profile person={person} engagement={engagement} title={title} now={request.server.deps.clock.now()} />
        <div class="person">
          <div class="person-data">
            <Facts person={person} canChange={viewer.role !== 'viewer'} />
            <Consent person={person} groups={groups} here={here} canChange={viewer.role !== 'viewer'} />
          </div>
          <Card title={language.say('person.timeline')}>
            <Timeline
              email={person.email}
              moments={timeline.moments}
              removedBefore={timeline.events_removed_before}
              canReadMails={viewer.role !== 'viewer'}
            />
            <Pager
              first={after === undefined ? null : here}
              next={timeline.next === null ? null : `${here}?${new URLSearchParams({ after: timeline.next })}`}
            />
          </Card>
        </div>
        {viewer.role !== 'viewer' && (
          <p>
            <LinkButton look="plain" href={`${here}/erase`} label={language.say('person.erase')} />
          </p>
        )}
      </>,
    );
  });

  app.post<Call>('/contacts/:id/unsubscribe', async (request, reply) => {
    const contact_id = request.params.id;
    const [topic = ''] = texts(Object(request.body).topic);
    const { person } = await ask(request, readPerson, { contact_id });
    if (topic === '') await ask(request, unsubscribeFromAll, { email_address: person.email });
    else await ask(request, unsubscribeFromGroup, { unsubscribe_groups_id: topic, email_address: person.email });
    setFlash(reply, 'good', 'person.unsubscribed');
    return reply.redirect(`/contacts/${encodeURIComponent(contact_id)}`, 303);
  });

  app.get<Call>('/contacts/:id/export', async (request, reply) => {
    const parts = await ask(request, exportPerson, { contact_id: request.params.id });
    reply.headers({
      'content-type': 'application/json; charset=utf-8',
      'content-disposition': 'attachment; filename="person.json"',
    });
    return reply.send(Readable.from(parts, { objectMode: false }));
  });

  pageRoute<Call>(app, '/contacts/:id/erase', async (request, reply) => {
    requireEditor(request);
    const viewer = viewerOf(request);
    const contact_id = request.params.id;
    const { person } = await ask(request, readPerson, { contact_id });
    const title = languageOf(request, viewer).say('person.erase');
    return sendPage(request, reply, viewer, { title, section: 'contacts' }, <Erase {...{ person, contact_id }} />);
  });

  app.post<Call>('/contacts/:id/erase', async (request, reply) => {
    const erased = await attempt(request, erase, { contact_id: request.params.id });
    if ('output' in erased) {
      setFlash(reply, 'good', 'person.erased');
      return reply.redirect('/contacts', 303);
    }
    const viewer = viewerOf(request);
    const title = languageOf(request, viewer).say('person.erase');
    const content = <Notice tone="bad">{erased.text}</Notice>;
    return sendPage(request, reply.code(erased.status), viewer, { title, section: 'contacts' }, content);
  });
}

interface ProfileProps {
  person: Person;
  engagement: Engagement;
  /** The title of the page: the person's name, or the address if there is none. */
  title: string;
  now: Date;
}

/** What matters most about a person: the address, whether they get mail, since when, and what they did with it. */
function Profile({ person, engagement, title, now }: ProfileProps) {
  const language = useLanguage();
  const { delivered, measured, opened, clicked, last_active_at } = engagement;
  const since = person.contacts.map(({ created_at }) => created_at).sort()[0];
  const times = [
    since ? language.say('person.since', { day: language.date(new Date(since)) }) : '',
    last_active_at === null
      ? ''
      : language.say('person.lastActive', { when: language.relative(new Date(last_active_at), now) }),
  ].filter(Boolean);
  const share = (label: PlainKey, count: number) => ({
    label: language.say(label),
    ...(measured === 0
      ? { value: language.say('person.unmeasured') }
      : {
          value: language.percent(count / measured),
          detail: language.say('person.ofMeasured', { count, whole: measured }),
        }),
  });
  return (
    <section class="card headline">
      <p class="badges">
        {title !== person.email && <strong>{person.email}</strong>}
        <Status person={person} />
        <span class="quiet-text">{times.join(' · ')}</span>
      </p>
      {delivered > 0 && (
        <Stats
          figures={[
            { label: language.say('person.delivered'), value: language.number(delivered) },
            share('person.opened', opened),
            share('person.clicked', clicked),
          ]}
        />
      )}
    </section>
  );
}

/** Says whether mail goes to a person. */
function Status({ person: { suppression, unsubscribed } }: { person: Person }) {
  const language = useLanguage();
  if (suppression !== null) return <Badge tone="bad">{language.say('person.isSuppressed')}</Badge>;
  const hasLeft = unsubscribed.some(({ unsubscribe_groups_id: id }) => id === null);
  return hasLeft ? (
    <Badge tone="warn">{language.say('person.isUnsubscribed')}</Badge>
  ) : (
    <Badge tone="good">{language.say('person.isSubscribed')}</Badge>
  );
}

/** The fields shown for each contact, in this order, if they have values. The name is the title of the page. */
const FACTS = RESERVED_FIELDS.filter((name) => name !== 'first_name' && name !== 'last_name');

function Facts({ person, canChange }: { person: Person; canChange: boolean }) {
  const language = useLanguage();
  return (
    <>
      {person.contacts.map((contact) => (
        <Card key={contact.id} title={language.say('person.contact', { name: contact.contact_type_name })}>
          <dl class="person-facts">
            {FACTS.map((name) => (
              <Fact
                key={name}
                label={name}
                value={
                  name === 'language'
                    ? languageNamer(language)(contact[name])
                    : fieldText(language, name, contact[name] ?? '')
                }
              />
            ))}
            {customValues(contact).map(([name, value]) => (
              <Fact key={name} label={name} value={value} />
            ))}
          </dl>
          {canChange && (
            <div class="buttons">
              <LinkButton look="plain" href={`/contacts/${contact.id}/edit`} label={language.say('person.edit')} />
              <LinkButton
                look="plain"
                href={withQuery('/automations/enter', { contact_id: String(contact.id) })}
                label={language.say('automations.enter')}
              />
            </div>
          )}
        </Card>
      ))}
    </>
  );
}

function customValues({ custom_field }: Contact): [string, string | null][] {
  return Object.entries(custom_field ?? {}).map(([name, { field_value }]) => [name, field_value]);
}

function Fact({ label, value }: { label: string; value: string | null }) {
  const language = useLanguage();
  if (value === null || value === '') return null;
  return (
    <div>
      <dt>{fieldLabel(language, label)}</dt>
      <dd>{value}</dd>
    </div>
  );
}

interface ConsentProps {
  person: Person;
  groups: readonly Group[];
  /** The path of the page. */
  here: string;
  canChange: boolean;
}

function Consent({ person, groups, here, canChange }: ConsentProps) {
  const language = useLanguage();
  const { unsubscribed, segments, suppression } = person;
  const unsubscribedFrom = new Set(unsubscribed.map(({ unsubscribe_groups_id }) => unsubscribe_groups_id));
  const subscribed = unsubscribedFrom.has(null) ? [] : groups.filter(({ id }) => !unsubscribedFrom.has(id));
  const unsubscribe = language.say('person.unsubscribe');
  // The page that lifts an entry explains its meaning and asks for confirmation.
  const Lift = (list: { list: string; group?: string }) =>
    canChange ? (
      <LinkButton
        look="plain"
        href={`/unsubscribes/lift?${new URLSearchParams({ ...list, email: person.email, contact: here.slice('/contacts/'.length) })}`}
        label={language.say(list.list === 'suppressions' ? 'unsubscribes.lift.suppressions.do' : 'person.resubscribe')}
      />
    ) : null;
  return (
    <Card title={language.say('person.mail')}>
      {suppression !== null && (
        <Notice tone="warn">
          <p>{language.say('person.suppressed', { reason: language.fullSentence(suppression) })}</p>
          <Lift list="suppressions" />
        </Notice>
      )}
      {unsubscribed.length > 0 && (
        <ul class="plain-list">
          {unsubscribed.map(({ unsubscribe_groups_id: id, group_name, created_at }) => (
            <li key={String(id)} class="left-list">
              <span>
                {id === null
                  ? language.say('person.leftAll', { day: language.date(new Date(created_at)) })
                  : language.say('person.left', { name: group_name ?? '', day: language.date(new Date(created_at)) })}
              </span>
              {id === null ? <Lift list="all" /> : <Lift list="topic" group={String(id)} />}
            </li>
          ))}
        </ul>
      )}
      {subscribed.length > 0 && (
        <p class="badges">
          {language.say('person.groups')}
          {subscribed.map(({ id, group_name }) => (
            <Badge key={id}>{group_name}</Badge>
          ))}
        </p>
      )}
      {segments.length > 0 && (
        <p class="badges">
          {language.say('person.segments')}
          {segments.map(({ segment_id, segment_name }) => (
            <Badge key={segment_id}>{segment_name}</Badge>
          ))}
        </p>
      )}
      {canChange && !unsubscribedFrom.has(null) && (
        <Confirm id="unsubscribe" action={`${here}/unsubscribe`} label={unsubscribe} title={unsubscribe}>
          <SelectField
            name="topic"
            label={language.say('person.unsubscribe.from')}
            options={[
              { value: '', label: language.say('person.allMail') },
              ...subscribed.map(({ id, group_name }) => ({ value: String(id), label: group_name })),
            ]}
          />
          <p>{language.say('person.unsubscribe.means')}</p>
        </Confirm>
      )}
    </Card>
  );
}

function Erase({ person, contact_id }: { person: Person; contact_id: string }) {
  const language = useLanguage();
  const here = `/contacts/${encodeURIComponent(contact_id)}`;
  return (
    <Card title={language.say('person.erase.title', { email: person.email })}>
      <form method="post" action={`${here}/erase`}>
        <p>{language.say('person.erase.what', { count: person.contacts.length })}</p>
        {person.earlier_emails.length > 0 && (
          <p>{language.say('person.erase.earlier', { emails: person.earlier_emails.join(', ') })}</p>
        )}
        {person.named_in_segments.length > 0 && (
          <Notice tone="warn">
            {language.say('person.erase.rules', {
              segments: person.named_in_segments.map(({ segment_name }) => segment_name).join(', '),
            })}
          </Notice>
        )}
        <p>{language.say('person.erase.keeps')}</p>
        <p class="quiet-text">{language.say('person.erase.final')}</p>
        <div class="buttons">
          <Button look="danger" label={language.say('person.erase.yes')} />
          <LinkButton look="plain" href={here} label={language.say('contacts.confirm.no')} />
        </div>
      </form>
    </Card>
  );
}

const TONES: Partial<Record<Moment['kind'], Tone>> = {
  opened: 'good',
  clicked: 'good',
  event: 'good',
  bounced: 'bad',
  complained: 'bad',
  suppressed: 'warn',
  unsubscribed: 'warn',
  contact_deleted: 'warn',
  inactive: 'warn',
  active_again: 'good',
};
/** The tone of a mail by its state. */
const MAIL_TONES: Readonly<Record<string, Tone>> = {
  accepted: 'good',
  kept: 'plain',
  queued: 'busy',
  sending: 'busy',
  bounced: 'bad',
  failed: 'bad',
  suppressed: 'warn',
  cancelled: 'warn',
};

interface TimelineProps {
  email: string;
  moments: readonly Moment[];
  /** The time before which opens and clicks have been removed from the timeline; null: none have. */
  removedBefore: string | null;
  /** True if the user may see mails as they were sent. */
  canReadMails: boolean;
}

function Timeline({ email, moments, removedBefore, canReadMails }: TimelineProps) {
  const language = useLanguage();
  if (moments.length === 0) return <p class="quiet-text">{language.say('person.timeline.none')}</p>;
  const isBefore = ({ happened_at }: Moment) => removedBefore !== null && happened_at < removedBefore;
  return (
    <>
      {removedBefore !== null && moments.some(isBefore) && (
        <p class="quiet-text">
          {language.say('person.eventsRemoved', { day: language.date(new Date(removedBefore)) })}
        </p>
      )}
      <ol class="person-timeline">
        {moments.map((moment, at) => (
          <li key={at}>
            <Time at={new Date(moment.happened_at)} />
            <div>
              <Badge tone={TONES[moment.kind] ?? MAIL_TONES[shownState(moment) ?? ''] ?? 'plain'}>
                {language.say(`person.moment.${moment.kind}`)}
              </Badge>{' '}
              <About moment={moment} /> <WhyLink moment={moment} email={email} />
              <Reason moment={moment} />
              {moment.kept_mail_id !== null && canReadMails && (
                <p>
                  <a href={`/deliveries/${moment.kept_mail_id}`}>{language.say('sentMails.title')}</a>
                </p>
              )}
              {isBefore(moment) && <Counts moment={moment} />}
              {moment.is_machine === 1 && <p class="quiet-text">{language.say('person.machine')}</p>}
              {moment.is_proxied === 1 && <p class="quiet-text">{language.say('person.proxied')}</p>}
            </div>
          </li>
        ))}
      </ol>
    </>
  );
}

function Counts({ moment: { opens, clicks } }: { moment: Moment }) {
  const language = useLanguage();
  const counts = [
    opens ? language.say('person.opens', { count: opens }) : '',
    clicks ? language.say('person.clicks', { count: clicks }) : '',
  ].filter(Boolean);
  return counts.length === 0 ? null : <p class="quiet-text">{counts.join(', ')}</p>;
}

/** A link from a campaign, or a mail of an automation, to the page that says why the contact got it or not. */
function WhyLink({ moment, email }: { moment: Moment; email: string }) {
  const language = useLanguage();
  const page = moment.kind === 'mail' || moment.kind === 'automation_ended' ? pageOf(moment) : null;
  if (page === null) return null;
  return (
    <a class="small" href={withQuery(`${page}/why`, { email })}>
      {language.say('why.link')}
    </a>
  );
}

/** The subject of a moment, as a link to its campaign or automation if there is one. */
function About({ moment }: { moment: Moment }) {
  const language = useLanguage();
  const { kind, name, subject, url } = moment;
  const href = pageOf(moment);
  const text = textOf(language, moment);
  const linkedText = href === null || text === '' ? text : <a href={href}>{text}</a>;
  if (kind === 'clicked') return url === null ? linkedText : [`${url} · `, linkedText];
  const state = stateText(language, moment);
  return state === '' ? linkedText : [linkedText, (name ?? subject) === null ? '' : ' · ', state];
}

/** Returns the state of a mail, of a contact in an automation, or of an inactive contact in words; '' for other moments. */
function stateText(language: Language, moment: Moment): string {
  const { kind } = moment;
  const state = shownState(moment);
  if (!state) return '';
  if (kind === 'mail' || kind === 'transactional') return knownWord(language, 'delivery', state);
  if (kind.startsWith('automation_')) return knownWord(language, 'entered', state);
  return kind === 'inactive' || kind === 'active_again' ? knownWord(language, 'inactive', state) : '';
}

/** Returns the state of a mail as it is shown: a mail kept in the outbox was not delivered. */
function shownState({ state, reason }: Moment): string | null {
  return state === 'accepted' ? shownDeliveryState(state, reason) : state;
}

function textOf(language: Language, moment: Moment): string {
  const { kind, name, from_name, subject } = moment;
  if (kind === 'event') return eventText(language, moment);
  if (kind === 'mail' || kind === 'transactional')
    return subject === null ? (name ?? '') : plainSubject(language, subject);
  if (kind === 'contact_moved') return [from_name, name].filter(Boolean).join(' → ');
  if (name === null && (kind === 'unsubscribed' || kind === 'resubscribed')) return language.say('person.allMail');
  return name ?? '';
}

/** Returns an event in words, such as “purchase · 49.9 EUR · category: shoes”. */
function eventText(language: Language, { name, value, currency, properties }: Moment): string {
  const amount = value === null ? '' : [language.number(value), currency].filter(Boolean).join(' ');
  const further = Object.entries(properties ?? {}).map(([property, text]) => `${property}: ${text}`);
  return [name, amount, further.join(', ')].filter(Boolean).join(' · ');
}

/** Returns the path of the campaign or automation; null if there is none (any more). */
function pageOf({ kind, utr, automation_utr }: Moment): string | null {
  if (kind === 'transactional') return `/transactional/${utr}`;
  if (kind.startsWith('automation_')) return utr === null ? null : `/automations/${utr}`;
  if (automation_utr !== null) return `/automations/${automation_utr}`;
  return utr === null ? null : `/campaigns/${utr}`;
}

function Reason({ moment }: { moment: Moment }) {
  const language = useLanguage();
  const { kind, reason } = moment;
  // The state already says that the mail is kept in the outbox.
  if (!reason || shownState(moment) === 'kept') return null;
  const text =
    kind === 'unsubscribed' || kind === 'resubscribed'
      ? language.say('person.source', { source: knownWord(language, 'source', String(reason)) })
      : language.sentence(reason);
  return <p class="quiet-text">{text}</p>;
}
