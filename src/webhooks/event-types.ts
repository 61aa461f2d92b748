/**
 * The types of events that endpoints can ask for. A new type is a line here, a trigger in drizzle/triggers.sql (except `contact.event`), and the schema of its data in
 * operations/event-data.ts.
 */

/** The event types with their groups and texts, in the order of the webhook form. */
export const EVENTS = [
  { type: 'contact.created', group: 'people', en: 'A contact was added', de: 'Ein Kontakt wurde hinzugefügt' },
  { type: 'contact.updated', group: 'people', en: 'A contact was changed', de: 'Ein Kontakt wurde geändert' },
  { type: 'contact.deleted', group: 'people', en: 'A contact was deleted', de: 'Ein Kontakt wurde gelöscht' },
  {
    type: 'contact.unsubscribed',
    group: 'people',
    en: 'A contact unsubscribed',
    de: 'Ein Kontakt hat sich abgemeldet',
  },
  {
    type: 'contact.resubscribed',
    group: 'people',
    en: 'A contact resubscribed',
    de: 'Ein Kontakt hat sich wieder angemeldet',
  },
  { type: 'contact.inactive', group: 'people', en: 'A contact became inactive', de: 'Ein Kontakt wurde inaktiv' },
  {
    type: 'contact.active',
    group: 'people',
    en: 'An inactive contact is active again',
    de: 'Ein inaktiver Kontakt ist wieder aktiv',
  },
  {
    type: 'contact.event',
    group: 'people',
    en: 'An event of a contact was recorded',
    de: 'Ein Ereignis eines Kontakts wurde erfasst',
  },
  {
    type: 'contact_type.deleted',
    group: 'people',
    en: 'A list was deleted',
    de: 'Eine Liste wurde gelöscht',
  },
  {
    type: 'mail.accepted',
    group: 'mails',
    en: 'An e-mail was accepted by the SMTP server',
    de: 'Der SMTP-Server hat eine Mail angenommen',
  },
  { type: 'mail.bounced', group: 'mails', en: 'An e-mail bounced', de: 'Eine Mail war ein Bounce' },
  {
    type: 'mail.complained',
    group: 'mails',
    en: 'An e-mail was reported as spam',
    de: 'Eine Mail wurde als Spam gemeldet',
  },
  { type: 'mail.opened', group: 'mails', en: 'An e-mail was opened', de: 'Eine Mail wurde geöffnet' },
  { type: 'mail.clicked', group: 'mails', en: 'A link was clicked', de: 'Ein Link wurde angeklickt' },
  { type: 'send.started', group: 'sends', en: 'A campaign started', de: 'Eine Kampagne hat begonnen' },
  { type: 'send.completed', group: 'sends', en: 'A campaign was completed', de: 'Eine Kampagne wurde abgeschlossen' },
  {
    type: 'send.held',
    group: 'sends',
    en: 'A campaign or automation paused: needs attention',
    de: 'Eine Kampagne oder Automation pausiert: bitte prüfen',
  },
  {
    type: 'automation.entered',
    group: 'sends',
    en: 'A contact entered an automation',
    de: 'Ein Kontakt kam in eine Automation',
  },
  {
    type: 'automation.left',
    group: 'sends',
    en: 'A contact exited an automation',
    de: 'Ein Kontakt ist aus einer Automation ausgestiegen',
  },
  {
    type: 'automation.step',
    group: 'sends',
    en: 'A contact came to a webhook step of an automation',
    de: 'Ein Kontakt kam zu einem Webhook-Schritt einer Automation',
  },
] as const;
export const WEBHOOK_EVENTS = EVENTS.map(({ type }) => type);

/** The type of a test event. No endpoint asks for it. */
export const TEST_EVENT = 'webhook.test';
