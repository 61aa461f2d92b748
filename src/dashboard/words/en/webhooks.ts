/** English: the page of the webhooks. */
export const webhooks = {
  'audit.webhook_added': 'Added a webhook',
  'audit.webhook_changed': 'Changed a webhook',
  'audit.webhook_removed': 'Deleted a webhook',
  'audit.webhook_switched': 'Switched a webhook on or off',
  'audit.webhook_secret_rotated': 'Gave a webhook a new secret',
} as const;
