/** One person: facts, groups and segments, the timeline, the export, and erasing them. */
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { ENVELOPE } from '../../../http/list-response.ts';
import { READ } from '../../../http/pages/layout.ts';
import { ApiClient, refusalText } from '../../api-client.ts';
import { Button, LinkButton } from '../../components/button.tsx';
import { Badge, Card, Notice } from '../../components/surface.tsx';
import { Pager } from '../../components/table.tsx';
import { setFlash } from '../../flash.ts';
import { languageOf, sendPage } from '../../page.tsx';
import { requireEditor, viewerOf } from '../../signed-in.ts';
import { type Language, useLanguage } from '../../words/index.ts';
import { fieldLabel } from './field-label.ts';
import { texts } from './filter.ts';
import type { Choices, Moment, Person, PersonContact } from './records.ts';
import { knownWord, Timeline } from './timeline.tsx';

const SEE_OTHER = 303;

interface WithId {
  Params: { id: string };
  Querystring: Record<string, unknown>;
}

interface TimelinePage {
  moments: Moment[];
  next: string | null;
  events_removed_before: string | null;
}

export async function personScreen(app: FastifyInstance): Promise<void> {
  app.route<WithId>({
    method: READ,
    url: '/people/:id',
    handler: async (request, reply) => {
      const viewer = viewerOf(request);
      const language = languageOf(request, viewer);
      const api = new ApiClient(app, request);
      const contact_id = request.params.id;
      const [after] = texts(request.query.after);
      const [{ person }, { unsubscribesGroups }, timeline] = await Promise.all([
        api.get<{ person: Person }>('/contacts/person', { contact_id }),
        api.get<{ unsubscribesGroups: Choices['groups'] }>('/unsubscribes-groups'),
        api.get<TimelinePage>('/contacts/timeline', {
          contact_id,
          ...(after && { after }),
        }),
      ]);
      const here = `/people/${encodeURIComponent(contact_id)}`;
      const name = person.contacts.map(({ fullname }) => fullname).find((text) => text !== '');
      const title = name ?? person.email;
      const action = (
        <LinkButton look="plain" href={`${here}/export`}>
          {language.say('person.export')}
        </LinkButton>
      );
      return sendPage(
        request,
        reply,
        viewer,
        { title, section: 'people', back: { href: '/people', label: 'nav.people' }, action },
        <>
          <Facts person={person} />
          <Consent person={person} groups={unsubscribesGroups} />
          <Card title={language.say('person.timeline')}>
            <Timeline moments={timeline.moments} removedBefore={timeline.events_removed_before} />
            <Pager
              first={after === undefined ? null : here}
              next={timeline.next === null ? null : `${here}?${new URLSearchParams({ after: timeline.next })}`}
            />
          </Card>
          {viewer.role !== 'viewer' && (
            <p>
              <LinkButton look="danger" href={`${here}/erase`}>
                {language.say('person.erase')}
              </LinkButton>
            </p>
          )}
        </>,
      );
    },
  });

  app.get<WithId>('/people/:id/export', async (request, reply) => {
    const api = new ApiClient(app, request);
    const { headers, body } = await api.file('/contacts/person/export', { contact_id: request.params.id });
    return reply.headers(headers).send(Readable.from(withoutEnvelope(body), { objectMode: false }));
  });

  app.route<WithId>({
    method: READ,
    url: '/people/:id/erase',
    handler: async (request, reply) => {
      requireEditor(request);
      const viewer = viewerOf(request);
      const contact_id = request.params.id;
      const api = new ApiClient(app, request);
      const { person } = await api.get<{ person: Person }>('/contacts/person', { contact_id });
      const title = languageOf(request, viewer).say('person.erase');
      return sendPage(request, reply, viewer, { title, section: 'people' }, <Erase {...{ person, contact_id }} />);
    },
  });

  app.post<WithId>('/people/:id/erase', async (request, reply) => {
    const viewer = viewerOf(request);
    const language = languageOf(request, viewer);
    const contact_id = request.params.id;
    const answer = await new ApiClient(app, request).send('POST', '/contacts/person/erase', { contact_id });
    if (answer.message) {
      setFlash(reply, 'good', 'person.erased');
      return reply.redirect('/people', SEE_OTHER);
    }
    reply.code(answer.status);
    const content = <Notice tone="bad">{refusalText(answer)}</Notice>;
    return sendPage(request, reply, viewer, { title: language.say('person.erase'), section: 'people' }, content);
  });
}

/** The message of an answer that the API sends in parts. */
async function* withoutEnvelope(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let skipped = 0;
  let end = Buffer.alloc(0);
  for await (const part of body) {
    const from = Math.min(part.length, ENVELOPE.head.length - skipped);
    skipped += from;
    // What may be the end of the answer waits for what follows it.
    const text = Buffer.concat([end, part.subarray(from)]);
    const kept = Math.max(0, text.length - ENVELOPE.end.length);
    end = text.subarray(kept);
    if (kept > 0) yield text.subarray(0, kept);
  }
}

/** The facts shown of each contact, in this order, where they are given. */
const FACTS = [
  'alt_email',
  'country',
  'state',
  'city',
  'address_line1',
  'address_line2',
  'state_province_region',
  'postal_code',
];

function Facts({ person }: { person: Person }) {
  const language = useLanguage();
  return (
    <>
      {person.contacts.map((contact) => (
        <Card key={contact.id} title={language.say('person.contact', { name: contact.contact_type_name })}>
          <dl class="person-facts">
            <Fact label="email" value={contact.email} />
            {FACTS.map((name) => (
              <Fact key={name} label={name} value={contact[name]} />
            ))}
            {customValues(contact).map(([name, value]) => (
              <Fact key={name} label={name} value={value} />
            ))}
          </dl>
        </Card>
      ))}
    </>
  );
}

function customValues({ custom_field }: PersonContact): [string, string | null][] {
  return Object.entries(custom_field ?? {}).map(([name, { field_value }]) => [name, field_value]);
}

function Fact({ label, value }: { label: string; value: unknown }) {
  const language = useLanguage();
  if (typeof value !== 'string' || value === '') return null;
  return (
    <div>
      <dt>{fieldLabel(language, label)}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function Consent({ person, groups }: { person: Person; groups: Choices['groups'] }) {
  const language = useLanguage();
  const { unsubscribed, segments, suppression } = person;
  const left = new Set(unsubscribed.map(({ unsubscribe_groups_id }) => unsubscribe_groups_id));
  const kept = left.has(null) ? [] : groups.filter(({ id }) => !left.has(id));
  return (
    <Card title={language.say('person.mail')}>
      {suppression !== null && (
        <Notice tone="warn">
          {language.say('person.suppressed', { reason: whySuppressed(language, suppression) })}
        </Notice>
      )}
      {unsubscribed.length === 0 && suppression === null && <p>{language.say('person.mailable')}</p>}
      {unsubscribed.length > 0 && (
        <ul class="plain-list">
          {unsubscribed.map(({ unsubscribe_groups_id: id, group_name, created_at }) => (
            <li key={String(id)}>
              {id === null
                ? language.say('person.leftAll', { day: language.date(new Date(created_at)) })
                : language.say('person.left', { name: group_name ?? '', day: language.date(new Date(created_at)) })}
            </li>
          ))}
        </ul>
      )}
      {kept.length > 0 && (
        <p class="badges">
          {language.say('person.groups')}
          {kept.map(({ id, group_name }) => (
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
    </Card>
  );
}

/** The reason in the reader's words, with what the mail server said: the API gives `bounce: 550 no such user`. */
function whySuppressed(language: Language, suppression: string): string {
  const [kind = ''] = suppression.split(':', 1);
  return `${knownWord(language, 'suppression', kind)}: ${language.sentence(suppression.slice(kind.length + 2))}`;
}

function Erase({ person, contact_id }: { person: Person; contact_id: string }) {
  const language = useLanguage();
  const here = `/people/${encodeURIComponent(contact_id)}`;
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
          <Button look="danger">{language.say('person.erase.yes')}</Button>
          <LinkButton look="plain" href={here}>
            {language.say('people.confirm.no')}
          </LinkButton>
        </div>
      </form>
    </Card>
  );
}
