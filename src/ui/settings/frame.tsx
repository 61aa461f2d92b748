/** The frame that the pages of the settings share: the links between them, and messages about the last action. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ComponentChildren } from 'preact';
import { Island } from '../components/island.tsx';
import { Problem } from '../components/surface.tsx';
import { setFlash } from '../flash.ts';
import { languageOf, sendPage } from '../page.tsx';
import { viewerOf } from '../signed-in.ts';
import { type Language, type PlainKey, useLanguage } from '../words/index.ts';

/** The pages of the settings by group. */
const GROUPS = {
  sending: ['senders', 'sending', 'times', 'mails', 'returns', 'nodes', 'health'],
  contacts: ['lists', 'fields', 'tracking'],
  brand: ['brand', 'archive'],
  team: ['account', 'sessions', 'users', 'audit', 'backup'],
  developers: ['keys', 'webhooks'],
} as const;
type Group = keyof typeof GROUPS;
type SettingsPage = (typeof GROUPS)[Group][number];
/** The pages for users of every role. */
const FOR_EVERYBODY: readonly SettingsPage[] = ['brand', 'lists', 'fields', 'account', 'sessions'];
/** The pages about the whole installation, for operators. */
const FOR_OPERATORS: readonly SettingsPage[] = ['sending', 'nodes', 'backup'];

/** A group of the settings with those of its pages that a user may open. */
type ShownGroup = readonly [group: Group, pages: readonly SettingsPage[]];

/** The key of a message about a successful action in the settings. */
type DoneKey = Extract<PlainKey, `settings.done.${string}`>;

/** Redirects to a page of the settings, which then shows the message with this key. */
export function backTo(reply: FastifyReply, page: SettingsPage, key: DoneKey) {
  setFlash(reply, 'good', key);
  return reply.redirect(`/settings/${page}`, 303);
}

/** Sends the page that lists all settings. */
export function sendSettingsIndex(request: FastifyRequest, reply: FastifyReply) {
  const viewer = viewerOf(request);
  const title = languageOf(request, viewer).say('nav.settings');
  return sendPage(
    request,
    reply,
    viewer,
    { title, section: 'settings' },
    <Groups groups={groupsFor(request)} current={null} />,
  );
}

/** Sends a page of the settings. `problem` is a sentence about a failed action; empty if no action failed. */
export function sendSettings(
  request: FastifyRequest,
  reply: FastifyReply,
  page: SettingsPage,
  content: ComponentChildren,
  problem = '',
) {
  const viewer = viewerOf(request);
  const language = languageOf(request, viewer);
  return sendPage(
    request,
    reply,
    viewer,
    { title: language.say(`settings.${page}`), section: 'settings' },
    <div class="settings">
      <p class="settings-back">
        <a href="/settings">‹ {language.say('nav.settings')}</a>
      </p>
      <Groups groups={groupsFor(request)} current={page} />
      <div class="settings-page">
        <Problem>{problem}</Problem>
        {content}
      </div>
    </div>,
  );
}

/** Returns the pages of the settings that the user may open, with their names and what they are about. */
export function settingsPages(request: FastifyRequest, language: Language) {
  return groupsFor(request).flatMap(([, pages]) =>
    pages.map((page) => ({
      href: `/settings/${page}`,
      name: language.say(`settings.${page}`),
      detail: language.say(`settings.about.${page}`),
    })),
  );
}

function groupsFor(request: FastifyRequest): ShownGroup[] {
  const viewer = viewerOf(request);
  const isShown = (page: SettingsPage) => {
    if (page === 'nodes' && request.server.deps.config.NATS_URL.length === 0) return false;
    if (FOR_OPERATORS.includes(page)) return viewer.isOperator;
    return viewer.role === 'owner' || FOR_EVERYBODY.includes(page);
  };
  return (Object.keys(GROUPS) as Group[])
    .map((group): ShownGroup => [group, GROUPS[group].filter(isShown)])
    .filter(([, pages]) => pages.length > 0);
}

/** The links to the pages of the settings, by group, with a search field. `current` is null on the page that lists all settings. */
function Groups({ groups, current }: { groups: readonly ShownGroup[]; current: SettingsPage | null }) {
  const language = useLanguage();
  return (
    <nav class={current === null ? 'settings-index' : 'settings-nav'} aria-label={language.say('nav.settings')}>
      <Island name="find-links">
        <div class="settings-find">
          <input type="search" aria-label={language.say('settings.find')} placeholder={language.say('settings.find')} />
          <p role="status" data-none={language.say('settings.find.none')} />
        </div>
        <div class="settings-groups">
          {groups.map(([group, pages]) => (
            <section key={group}>
              <h2>{language.say(`settings.group.${group}`)}</h2>
              <ul>
                {pages.map((page) => (
                  <li key={page} data-words={language.say(`settings.about.${page}`)}>
                    <a href={`/settings/${page}`} {...(page === current && { 'aria-current': 'page' as const })}>
                      {language.say(`settings.${page}`)}
                    </a>
                    {current === null && <small>{language.say(`settings.about.${page}`)}</small>}
                  </li>
                ))}
              </ul>
            </section>
          ))}
        </div>
      </Island>
    </nav>
  );
}
