/** German: the page of the webhooks. */
import type { webhooks as english } from '../en/webhooks.ts';
import type { Translation } from '../translation.ts';

export const webhooks: Translation<typeof english> = {
  'audit.webhook_added': 'Webhook hinzugefügt',
  'audit.webhook_changed': 'Webhook geändert',
  'audit.webhook_removed': 'Webhook gelöscht',
  'audit.webhook_switched': 'Webhook ein- oder ausgeschaltet',
  'audit.webhook_secret_rotated': 'Neues Geheimnis für einen Webhook',
};
