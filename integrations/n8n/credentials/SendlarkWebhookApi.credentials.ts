/** The secret of a webhook, with which the trigger checks that a request comes from Sendlark. */
import type { INodeProperties } from '../n8n.ts';

export class SendlarkWebhookApi {
  name = 'sendlarkWebhookApi';
  displayName = 'Sendlark Webhook';
  properties: INodeProperties[] = [
    {
      displayName: 'Secret',
      name: 'secret',
      type: 'string',
      typeOptions: { password: true },
      default: '',
      required: true,
      placeholder: 'whsec_…',
      description: 'As it was shown when the webhook was added in Sendlark, under Settings › Webhooks',
    },
  ];
}
