/** Descriptions of the fields in answers about webhooks. */

/** By name, or by `Schema.name`, as in descriptions.ts. */
export const WEBHOOK_DESCRIPTIONS = {
  'Webhook.disabled_reason': 'Why it is sent nothing, as a sentence.',
  'GetWebhooksAnswer.webhooks': 'The webhooks in the order in which they were added.',
  'PostWebhooksSaveAnswer.secret': 'The secret of a new webhook, which is not given again; null where one was changed.',
  'PostWebhooksRotateSecretAnswer.secret': 'The new secret, which is not given again.',
  'GetWebhooksLogAnswer.log': 'The attempts, the newest first.',
  'PostWebhooksTestAnswer.event_id': 'The event that is sent, as the log names it.',
  'PostWebhooksReplayAnswer.event_id': 'The event that is sent, as the log names it.',
};
