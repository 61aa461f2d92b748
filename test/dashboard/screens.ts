/** The screens that the walk opens. A new screen is one line here. */

export interface Screen {
  /** What the screenshot is called. */
  name: string;
  /** The path; of the first mailing where it says :utr, of others where it says :opened, :sending or :held. */
  path: string;
  /** Whether it loads the chart's script too, which has a budget of its own. */
  hasChart?: boolean;
  /** Whether it keeps a connection open for what changes. */
  isLive?: boolean;
  /** The account: one in which much has happened, or an empty one. The first unless it is said. */
  account?: 'filled' | 'empty';
}

export const SCREENS: readonly Screen[] = [
  { name: 'gallery', path: '/gallery', hasChart: true },
  { name: 'gallery-bare', path: '/gallery/bare' },
  { name: 'home', path: '/', hasChart: true },
  { name: 'home-empty', path: '/', hasChart: true, account: 'empty' },
  { name: 'mailings', path: '/mailings' },
  { name: 'mailings-none', path: '/mailings?search=nothing' },
  { name: 'mailings-empty', path: '/mailings', account: 'empty' },
  { name: 'mailing', path: '/mailings/:utr', hasChart: true },
  { name: 'mailing-recipients', path: '/mailings/:utr/recipients' },
  { name: 'mailing-opened', path: '/mailings/:opened', hasChart: true },
  { name: 'mailing-links', path: '/mailings/:opened/links' },
  { name: 'mailing-preview', path: '/mailings/:opened/preview' },
  { name: 'mailing-clicked', path: '/mailings/:opened/recipients?link=0' },
  { name: 'mailing-sending', path: '/mailings/:sending', isLive: true },
  { name: 'mailing-held', path: '/mailings/:held' },
  { name: 'mailing-draft-links', path: '/mailings/:held/links' },
  { name: 'people', path: '/people' },
  { name: 'people-empty', path: '/people', account: 'empty' },
  { name: 'person', path: '/people/13' },
  { name: 'people-import', path: '/people/import' },
  { name: 'automations-empty', path: '/automations', account: 'empty' },
  { name: 'left', path: '/left' },
  { name: 'left-empty', path: '/left', account: 'empty' },
  { name: 'left-groups', path: '/left/groups' },
  { name: 'left-blocked', path: '/left/blocked' },
  { name: 'left-lift', path: '/left/lift?list=all&email=d4p0@example.org' },
  { name: 'outbox', path: '/outbox' },
  { name: 'outbox-mail', path: '/outbox/3' },
  { name: 'outbox-headers', path: '/outbox/3?view=headers' },
  { name: 'outbox-source', path: '/outbox/3?view=source' },
  { name: 'outbox-links', path: '/outbox/3?view=links' },
  { name: 'outbox-check', path: '/outbox/3?view=check' },
  { name: 'settings-senders', path: '/settings/senders' },
  { name: 'settings-health', path: '/settings/health' },
  { name: 'settings-users', path: '/settings/users' },
  { name: 'settings-keys', path: '/settings/keys' },
  { name: 'settings-audit', path: '/settings/audit' },
  { name: 'settings-account', path: '/settings/account' },
  { name: 'settings-sessions', path: '/settings/sessions' },
];
