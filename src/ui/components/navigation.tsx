/** The navigation of every page. */
import type { Viewer } from '../viewer.ts';
import { type PlainKey, useLanguage } from '../words/index.ts';
import { Icon, type IconName } from './icon.tsx';

/** An entry of the navigation. */
export type Section =
  | 'home'
  | 'campaigns'
  | 'automations'
  | 'contacts'
  | 'templates'
  | 'images'
  | 'forms'
  | 'unsubscribes'
  | 'outbox'
  | 'settings';

interface Item {
  section: Section;
  href: string;
  label: PlainKey;
  icon: IconName;
  /** The key that opens the section after the key `g`. */
  shortcut: string;
  /** True if a narrow window shows the entry only under “More”. */
  isExtra?: true;
}

/** The entries of the navigation in their order. */
export const ITEMS: readonly Item[] = [
  { section: 'home', href: '/', label: 'nav.home', icon: 'home', shortcut: 'h' },
  { section: 'campaigns', href: '/campaigns', label: 'nav.campaigns', icon: 'mail', shortcut: 'c' },
  { section: 'automations', href: '/automations', label: 'nav.automations', icon: 'path', shortcut: 'a' },
  { section: 'contacts', href: '/contacts', label: 'nav.contacts', icon: 'people', shortcut: 'k' },
  { section: 'templates', href: '/templates', label: 'nav.templates', icon: 'template', shortcut: 't', isExtra: true },
  { section: 'images', href: '/images', label: 'nav.images', icon: 'picture', shortcut: 'i', isExtra: true },
  { section: 'forms', href: '/forms', label: 'nav.forms', icon: 'form', shortcut: 'f', isExtra: true },
  {
    section: 'unsubscribes',
    href: '/unsubscribes',
    label: 'nav.unsubscribes',
    icon: 'leave',
    shortcut: 'u',
    isExtra: true,
  },
  { section: 'outbox', href: '/outbox', label: 'nav.outbox', icon: 'tray', shortcut: 'o', isExtra: true },
  { section: 'settings', href: '/settings', label: 'nav.settings', icon: 'sliders', shortcut: 's', isExtra: true },
];

/** The navigation of the dashboard. `current` is the section of the page; `keys` are the keys that open the command menu. */
export function Navigation({ viewer, current, keys }: { viewer: Viewer; current?: Section; keys: string }) {
  const language = useLanguage();
  const isUnderMore = ITEMS.some(({ section, isExtra }) => section === current && isExtra);
  return (
    <nav class="sidebar" aria-label={language.say('nav.label')}>
      <a class="brand" href="/">
        <Icon name="lark" />
        <span>Sendlark</span>
      </a>
      <a class="find-link" href="/find" data-finder-opens>
        <Icon name="search" />
        <span>{language.say('finder.submit')}</span>
        <kbd>{keys}</kbd>
      </a>
      <ul>
        {ITEMS.map((item) => (
          <li key={item.section} class={item.isExtra && 'wide-only'}>
            <ItemLink item={item} isCurrent={item.section === current} />
          </li>
        ))}
        <li class="more narrow-only">
          <details>
            <summary class={isUnderMore ? 'current' : undefined}>
              <Icon name="more" />
              <span>{language.say('nav.more')}</span>
            </summary>
            <ul>
              {ITEMS.filter(({ isExtra }) => isExtra).map((item) => (
                <li key={item.section}>
                  <ItemLink item={item} isCurrent={item.section === current} />
                </li>
              ))}
              <li>
                <SignedInUser viewer={viewer} />
              </li>
            </ul>
          </details>
        </li>
      </ul>
      <div class="wide-only foot">
        <SignedInUser viewer={viewer} />
      </div>
    </nav>
  );
}

function ItemLink({ item, isCurrent }: { item: Item; isCurrent: boolean }) {
  const language = useLanguage();
  return (
    <a href={item.href} data-key={item.shortcut} {...(isCurrent && { 'aria-current': 'page' as const })}>
      <Icon name={item.icon} />
      <span>{language.say(item.label)}</span>
    </a>
  );
}

/** The name and role of the signed-in user, and the button to sign out. */
function SignedInUser({ viewer }: { viewer: Viewer }) {
  const language = useLanguage();
  return (
    <div class="who">
      <p>
        <b>{viewer.name}</b>
        <small>{language.say(`role.${viewer.role}`)}</small>
      </p>
      <form method="post" action="/logout">
        <button class="quiet" type="submit" title={language.say('nav.signOut')}>
          <Icon name="exit" />
          <span class="visually-hidden">{language.say('nav.signOut')}</span>
        </button>
      </form>
    </div>
  );
}
