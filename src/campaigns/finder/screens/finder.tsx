/**
 * The search of the command menu: the options of the menu, which its script loads at each keystroke, and a whole page for browsers
 * without scripts.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { fold } from '../../../database/functions/fold.ts';
import type { Role } from '../../../database/schema/index.ts';
import { pageRoute } from '../../../http/pages/layout.ts';
import { ITEMS } from '../../../ui/components/navigation.tsx';
import { NothingFound } from '../../../ui/components/surface.tsx';
import { SearchForm } from '../../../ui/components/table.tsx';
import { attempt } from '../../../ui/operations.ts';
import { languageOf, sendPage, sendParts } from '../../../ui/page.tsx';
import { settingsPages } from '../../../ui/settings/frame.tsx';
import { viewerOf } from '../../../ui/signed-in.ts';
import { type Language, type PlainKey, useLanguage } from '../../../ui/words/index.ts';
import { type FoundRecord, findRecords, wordsOf } from '../operations.ts';

/** The maximum number of characters of the text to look for, as in the field of the menu. */
const MAX_TEXT = 100;

/** A page of the dashboard, with the texts by which it is found. */
interface Place {
  href: string;
  name: string;
  detail: string;
}

/** Places under a common heading. */
interface Group {
  title: string;
  places: readonly Place[];
}

/** The actions that the menu offers. Users with the read-only role see none of them. */
const ACTIONS: readonly { href: string; label: PlainKey; isForOwners?: true }[] = [
  { href: '/campaigns/new', label: 'compose.new' },
  { href: '/contacts/new', label: 'person.new' },
  { href: '/contacts/import', label: 'contacts.import' },
  { href: '/automations/new', label: 'automations.new' },
  { href: '/contacts/segments/new', label: 'segments.new' },
  { href: '/forms/new', label: 'forms.new' },
  { href: '/templates/new', label: 'templates.new' },
  { href: '/feeds/new', label: 'feeds.new' },
  { href: '/settings/senders/new', label: 'senders.add', isForOwners: true },
];

/** The heading of each kind of record, and the page of a record. */
const KINDS = {
  campaign: { title: 'nav.campaigns', hrefOf: (key) => `/campaigns/${key}` },
  contact: { title: 'nav.contacts', hrefOf: (key) => `/contacts/${key}` },
  list: { title: 'settings.lists', hrefOf: (key) => `/contacts?contact_type_id=${key}` },
  segment: { title: 'segments.title', hrefOf: (key) => `/contacts/segments/${key}` },
  automation: { title: 'nav.automations', hrefOf: (key) => `/automations/${key}` },
  template: { title: 'nav.templates', hrefOf: (key) => `/templates/${key}` },
  form: { title: 'nav.forms', hrefOf: (key) => `/forms/${key}` },
} as const satisfies Record<FoundRecord['kind'], { title: PlainKey; hrefOf: (key: string) => string }>;

/** Registers the page of the search, and the route of the options. */
export async function finderScreen(app: FastifyInstance): Promise<void> {
  pageRoute(app, '/find', async (request, reply) => {
    const viewer = viewerOf(request);
    const language = languageOf(request, viewer);
    const text = textOf(request);
    const groups = await find(request, language, text);
    const content = (
      <>
        <SearchForm name="text" label={language.say('finder.what')} find={language.say('finder.submit')} value={text} />
        {groups.length === 0 && <NothingFound title={language.say('finder.none')} all="/find" />}
        {groups.map(({ title, places }) => (
          <section key={title}>
            <h2>{title}</h2>
            <ul class="link-list">
              {places.map(({ href, name, detail }) => (
                <li key={href}>
                  <a href={href}>
                    <bdi>{name}</bdi>
                  </a>{' '}
                  <small class="quiet-text">{detail}</small>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </>
    );
    return sendPage(request, reply, viewer, { title: language.say('finder.title') }, content);
  });

  pageRoute(app, '/find/options', async (request, reply) => {
    const language = languageOf(request, viewerOf(request));
    return sendParts(reply, language, <Options groups={await find(request, language, textOf(request))} />);
  });
}

/** The options of the menu as groups of a listbox, with the roles that the ARIA Authoring Practices Guide asks for. */
function Options({ groups }: { groups: readonly Group[] }) {
  const language = useLanguage();
  const count = groups.reduce((sum, { places }) => sum + places.length, 0);
  return (
    <div
      id="finder-options"
      data-news={count === 0 ? language.say('finder.none') : language.say('finder.found', { count })}
    >
      {groups.map(({ title, places }, group) => (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset groups the fields of a form, not options
        <div key={title} role="group" aria-labelledby={`finder-group-${group}`}>
          <div id={`finder-group-${group}`} role="presentation">
            {title}
          </div>
          {places.map(({ href, name, detail }, at) => (
            <a key={href} role="option" aria-selected="false" tabindex={-1} id={`finder-${group}-${at}`} href={href}>
              <bdi>{name}</bdi> <small>{detail}</small>
            </a>
          ))}
        </div>
      ))}
    </div>
  );
}

/** Returns the text to look for, cut to the length that the field allows. */
function textOf({ query }: FastifyRequest): string {
  const { text } = query as { text?: unknown };
  return typeof text === 'string' ? text.slice(0, MAX_TEXT) : '';
}

/** Finds the actions, sections and settings with words that begin like the words of the text, and the records that `findRecords` finds. */
async function find(request: FastifyRequest, language: Language, text: string): Promise<Group[]> {
  const { role } = viewerOf(request);
  const words = wordsOf(text);
  const isFound = ({ name, detail }: Place) => {
    const searched = ` ${fold(`${name} ${detail}`).replaceAll(/[^\p{L}\p{N}-]+/gu, ' ')}`;
    return words.every((word) => searched.includes(` ${word}`));
  };
  const outcome = await attempt(request, findRecords, { text });
  // A text that no name can have, such as one with control characters, finds nothing.
  const records = 'output' in outcome ? outcome.output : [];
  const recordGroups = (Object.keys(KINDS) as FoundRecord['kind'][]).map((kind) => ({
    title: language.say(KINDS[kind].title),
    places: records
      .filter((record) => record.kind === kind)
      .map(({ key, name, detail }) => ({ href: KINDS[kind].hrefOf(key), name, detail })),
  }));
  const actions = ACTIONS.filter(({ isForOwners }) => mayDo(role, isForOwners)).map(({ href, label }) => ({
    href,
    name: language.say(label),
    detail: '',
  }));
  const sections = ITEMS.map(({ href, label }) => ({ href, name: language.say(label), detail: '' }));
  const settings = words.length === 0 ? [] : settingsPages(request, language);
  return [
    { title: language.say('finder.actions'), places: actions.filter(isFound) },
    ...recordGroups,
    { title: language.say('finder.goTo'), places: sections.filter(isFound) },
    { title: language.say('nav.settings'), places: settings.filter(isFound) },
  ].filter(({ places }) => places.length > 0);
}

/** Returns true if a user with this role may perform an action. */
function mayDo(role: Role, isForOwners = false): boolean {
  return isForOwners ? role === 'owner' : role !== 'viewer';
}
