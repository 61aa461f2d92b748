/** The types of events that endpoints can ask for. */
export const WEBHOOK_EVENTS = [
  'contact.created',
  'contact.updated',
  'contact.deleted',
  'contact.unsubscribed',
  'contact.resubscribed',
  'contact.inactive',
  'contact.active',
  'contact_type.deleted',
  'mail.accepted',
  'mail.bounced',
  'mail.complained',
  'mail.opened',
  'mail.clicked',
  'send.started',
  'send.completed',
  'send.held',
  'automation.entered',
  'automation.left',
] as const;

/** The type of the event that a test sends. Nobody asks for it. */
export const TEST_EVENT = 'webhook.test';
