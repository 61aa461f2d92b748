/** The types of events that endpoints can ask for. A new type is a line here and a trigger in drizzle/triggers.sql. */

/** The event types with their groups and texts, in the order of the webhook form. */
export const EVENTS = [
  { type: 'contact.created', group: 'people', en: 'A contact was added', de: 'Ein Kontakt wurde hinzugefügt' },
  { type: 'contact.updated', group: 'people', en: 'A contact was changed', de: 'Ein Kontakt wurde geändert' },
  { type: 'contact.deleted', group: 'people', en: 'A contact was deleted', de: 'Ein Kontakt wurde gelöscht' },
  { type: 'contact.unsubscribed', group: 'people', en: 'Somebody unsubscribed', de: 'Jemand hat sich abgemeldet' },
  {
    type: 'contact.resubscribed',
    group: 'people',
    en: 'Somebody subscribed again',
    de: 'Jemand hat sich wieder angemeldet',
  },
  { type: 'contact.inactive', group: 'people', en: 'Somebody was found inactive', de: 'Jemand gilt als inaktiv' },
  {
    type: 'contact.active',
    group: 'people',
    en: 'Somebody inactive is active again',
    de: 'Jemand Inaktives ist wieder aktiv',
  },
  {
    type: 'contact_type.deleted',
    group: 'people',
    en: 'A contact type was deleted',
    de: 'Ein Kontakttyp wurde gelöscht',
  },
  {
    type: 'mail.accepted',
    group: 'mails',
    en: 'A mail was accepted by the relay',
    de: 'Das Relay hat eine Mail angenommen',
  },
  { type: 'mail.bounced', group: 'mails', en: 'A mail came back', de: 'Eine Mail kam zurück' },
  {
    type: 'mail.complained',
    group: 'mails',
    en: 'Somebody complained about a mail',
    de: 'Jemand hat sich über eine Mail beschwert',
  },
  { type: 'mail.opened', group: 'mails', en: 'A mail was opened', de: 'Eine Mail wurde geöffnet' },
  { type: 'mail.clicked', group: 'mails', en: 'A link was clicked', de: 'Ein Link wurde angeklickt' },
  { type: 'send.started', group: 'sends', en: 'A mailing started', de: 'Ein Mailing hat begonnen' },
  { type: 'send.completed', group: 'sends', en: 'A mailing was completed', de: 'Ein Mailing wurde abgeschlossen' },
  {
    type: 'send.held',
    group: 'sends',
    en: 'A mailing or automation was held',
    de: 'Ein Mailing oder eine Automation wurde angehalten',
  },
  {
    type: 'automation.entered',
    group: 'sends',
    en: 'Somebody entered an automation',
    de: 'Jemand kam in eine Automation',
  },
  {
    type: 'automation.left',
    group: 'sends',
    en: 'Somebody left an automation',
    de: 'Jemand hat eine Automation verlassen',
  },
] as const;
export const WEBHOOK_EVENTS = EVENTS.map(({ type }) => type);

/** The type of a test event. No endpoint asks for it. */
export const TEST_EVENT = 'webhook.test';
