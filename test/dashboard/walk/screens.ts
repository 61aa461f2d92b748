/** The screens that the walk opens. A new screen is one line here. */

export interface Screen {
  /** What the screenshot is called. */
  name: string;
  /** The path; a word after a colon stands for a record that the filled account has (`walked-service.ts`). */
  path: string;
  /** Whether it loads the chart's script too, which has a budget of its own. */
  hasChart?: boolean;
  /** Whether it shows the pictures of all templates. */
  hasPictures?: boolean;
  /** Whether it keeps a connection open for what changes. */
  isLive?: boolean;
  /** The account: one in which much has happened, an empty one, or none for who has not signed in. The first unless it is said. */
  account?: 'filled' | 'empty' | 'none';
  /** Whether it is among the pictures in docs/screenshots: in the light colours, or in both. */
  picture?: 'light' | 'both';
}

export const SCREENS: readonly Screen[] = [
  { name: 'gallery', path: '/gallery', hasChart: true },
  { name: 'gallery-bare', path: '/gallery/bare' },
  { name: 'home', path: '/', hasChart: true, picture: 'both' },
  { name: 'home-empty', path: '/', hasChart: true, account: 'empty', picture: 'light' },
  { name: 'mailings', path: '/mailings', picture: 'light' },
  { name: 'mailings-none', path: '/mailings?search=nothing' },
  { name: 'mailings-empty', path: '/mailings', account: 'empty' },
  { name: 'mailing', path: '/mailings/:utr', hasChart: true },
  { name: 'mailing-recipients', path: '/mailings/:utr/recipients', picture: 'light' },
  { name: 'mailing-opened', path: '/mailings/:opened', hasChart: true, picture: 'both' },
  { name: 'mailing-links', path: '/mailings/:opened/links', picture: 'light' },
  { name: 'mailing-preview', path: '/mailings/:opened/preview', picture: 'light' },
  { name: 'mailing-clicked', path: '/mailings/:opened/recipients?link=0' },
  { name: 'mailing-sending', path: '/mailings/:sending', isLive: true, picture: 'light' },
  { name: 'mailing-held', path: '/mailings/:held' },
  { name: 'mailing-draft-links', path: '/mailings/:held/links' },
  { name: 'mailing-new', path: '/mailings/new' },
  { name: 'mailing-edit-audience', path: '/mailings/:draft/edit/audience', picture: 'light' },
  { name: 'mailing-edit-audience-empty', path: '/mailings/:emptyDraft/edit/audience', account: 'empty' },
  { name: 'mailing-edit-content', path: '/mailings/:draft/edit/content', picture: 'light' },
  { name: 'mailing-edit-templates', path: '/mailings/:draft/edit/templates', hasPictures: true },
  { name: 'mailing-edit-html', path: '/mailings/:draft/edit/html' },
  { name: 'mailing-edit-check', path: '/mailings/:draft/edit/check', picture: 'light' },
  { name: 'mailing-edit-dark', path: '/mailings/:draft/edit/check?colours=dark' },
  { name: 'mailing-edit-missing', path: '/mailings/:emptyDraft/edit/schedule', account: 'empty' },
  { name: 'mailing-edit-schedule', path: '/mailings/:draft/edit/schedule', picture: 'light' },
  { name: 'people', path: '/people', picture: 'both' },
  { name: 'people-empty', path: '/people', account: 'empty' },
  { name: 'person', path: '/people/13', picture: 'light' },
  { name: 'people-import', path: '/people/import', picture: 'light' },
  { name: 'people-map', path: '/people/import/:upload', picture: 'light' },
  { name: 'people-past-import', path: '/people/import/:pastImport' },
  { name: 'people-undone-import', path: '/people/import/:undoneImport' },
  { name: 'people-action', path: '/people/actions/:job', picture: 'light' },
  { name: 'people-recent', path: '/people/recent' },
  { name: 'person-erase', path: '/people/13/erase', picture: 'light' },
  { name: 'people-segments', path: '/people/segments', picture: 'light' },
  { name: 'people-segments-empty', path: '/people/segments', account: 'empty' },
  { name: 'people-segment', path: '/people/segments/1' },
  { name: 'people-segment-edit', path: '/people/segments/1/edit', picture: 'light' },
  { name: 'people-segment-new', path: '/people/segments/new' },
  { name: 'automations', path: '/automations', picture: 'light' },
  { name: 'automation', path: '/automations/:automation', picture: 'both' },
  { name: 'automation-person', path: '/automations/:automation?email=d20p1@example.org' },
  { name: 'automation-new', path: '/automations/new' },
  { name: 'automation-edit', path: '/automations/:automation/edit', picture: 'light' },
  { name: 'automation-mail', path: '/automations/:automation/mails/:automationMail/content', picture: 'light' },
  { name: 'automation-mail-check', path: '/automations/:automation/mails/:automationMail/check' },
  {
    name: 'automation-mail-templates',
    path: '/automations/:automation/mails/:automationMail/templates',
    hasPictures: true,
  },
  { name: 'automation-mail-html', path: '/automations/:automation/mails/:automationMail/html' },
  { name: 'automation-mail-remove', path: '/automations/:automation/mails/:automationMail/remove' },
  { name: 'automation-mail-waiting', path: '/automations/:automation/mails/:automationMail/waiting' },
  { name: 'automation-mail-new', path: '/automations/:automation/mails/new' },
  { name: 'automation-new-empty', path: '/automations/new', account: 'empty' },
  { name: 'automations-empty', path: '/automations', account: 'empty' },
  { name: 'templates', path: '/templates', picture: 'light' },
  { name: 'templates-none', path: '/templates?search=nothing' },
  { name: 'templates-empty', path: '/templates', account: 'empty' },
  { name: 'templates-new', path: '/templates/new' },
  { name: 'template', path: '/templates/1001', picture: 'light' },
  { name: 'versions', path: '/versions/:draft', picture: 'light' },
  { name: 'versions-empty', path: '/versions/:emptyDraft', account: 'empty' },
  { name: 'pictures', path: '/pictures', picture: 'light' },
  { name: 'pictures-none', path: '/pictures?search=nothing' },
  { name: 'pictures-empty', path: '/pictures', account: 'empty' },
  { name: 'picture', path: '/pictures/1', picture: 'light' },
  { name: 'picture-unused', path: '/pictures/2' },
  { name: 'left', path: '/left', picture: 'light' },
  { name: 'left-empty', path: '/left', account: 'empty' },
  { name: 'left-groups', path: '/left/groups', picture: 'light' },
  { name: 'left-groups-new', path: '/left/groups/new' },
  { name: 'left-groups-edit', path: '/left/groups/1/edit' },
  { name: 'left-group', path: '/left/groups/1' },
  { name: 'left-blocked', path: '/left/blocked', picture: 'light' },
  { name: 'left-lift', path: '/left/lift?list=all&email=d4p0@example.org', picture: 'light' },
  { name: 'outbox', path: '/outbox', picture: 'light' },
  { name: 'outbox-mail', path: '/outbox/3', picture: 'light' },
  { name: 'outbox-headers', path: '/outbox/3?view=headers' },
  { name: 'outbox-source', path: '/outbox/3?view=source' },
  { name: 'outbox-links', path: '/outbox/3?view=links' },
  { name: 'outbox-check', path: '/outbox/3?view=check', picture: 'light' },
  { name: 'settings-senders', path: '/settings/senders', picture: 'light' },
  { name: 'settings-sender-new', path: '/settings/senders/new' },
  { name: 'settings-sender', path: '/settings/senders/1', picture: 'light' },
  { name: 'settings-sending', path: '/settings/sending', picture: 'light' },
  { name: 'settings-relay-new', path: '/settings/sending/new' },
  { name: 'settings-relay', path: '/settings/sending/:relay', picture: 'light' },
  { name: 'settings-returns', path: '/settings/returns' },
  { name: 'settings-returns-none', path: '/settings/returns', account: 'empty' },
  { name: 'settings-health', path: '/settings/health', picture: 'light' },
  { name: 'settings-backup', path: '/settings/backup', picture: 'light' },
  { name: 'settings-brand', path: '/settings/brand', picture: 'light' },
  { name: 'settings-types', path: '/settings/types', picture: 'light' },
  { name: 'settings-types-empty', path: '/settings/types', account: 'empty' },
  { name: 'settings-type', path: '/settings/types/1' },
  { name: 'settings-fields', path: '/settings/fields', picture: 'light' },
  { name: 'settings-fields-empty', path: '/settings/fields', account: 'empty' },
  { name: 'settings-field', path: '/settings/fields/1' },
  { name: 'settings-users', path: '/settings/users', picture: 'light' },
  { name: 'settings-keys', path: '/settings/keys', picture: 'light' },
  { name: 'settings-sessions', path: '/settings/sessions', picture: 'light' },
  { name: 'settings-account', path: '/settings/account', picture: 'light' },
  { name: 'settings-second-factor', path: '/settings/second-factor', picture: 'light' },
  { name: 'settings-audit', path: '/settings/audit', picture: 'light' },
  { name: 'login', path: '/login', account: 'none', picture: 'both' },
  { name: 'welcome', path: '/welcome', account: 'none', picture: 'light' },
];

const screensNamed = (pattern: RegExp) => SCREENS.filter(({ name }) => pattern.test(name));

/** All screens, in parts of which each has a test file of its own, so that none takes long. */
export const WALKS = {
  mailings: screensNamed(/^(home|mailing(?!-edit))/),
  compose: screensNamed(/^mailing-edit/),
  people: screensNamed(/^(people|person|automation)/),
  lists: screensNamed(/^(left|outbox|picture|template|version)/),
  settings: screensNamed(/^(?!home|mailing|people|person|automation|left|outbox|picture|template|version)/),
};
