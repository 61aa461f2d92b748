/** Starts a workflow when a webhook of Sendlark arrives that is signed with its secret. */
import { verifyWebhook } from '../../node/sendlark.ts';
import type { INodeTypeDescription, IWebhookFunctions, IWebhookResponseData } from '../n8n.ts';

const UNAUTHORIZED = 401;

export class SendlarkTrigger {
  description: INodeTypeDescription = {
    displayName: 'Sendlark Trigger',
    name: 'sendlarkTrigger',
    icon: 'fa:paper-plane',
    group: ['trigger'],
    version: 1,
    description: 'Starts when a contact is added, a mail bounces, somebody unsubscribes, and so on',
    defaults: { name: 'Sendlark Trigger' },
    inputs: [],
    outputs: ['main'],
    credentials: [{ name: 'sendlarkWebhookApi', required: true }],
    webhooks: [{ name: 'default', httpMethod: 'POST', responseMode: 'onReceived', path: 'sendlark' }],
    properties: [],
  };

  /** Gives the event with its id, which is the same when Sendlark sends an event again. A request that is not signed is answered 401. */
  async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
    const headers = this.getHeaderData();
    const { secret } = await this.getCredentials('sendlarkWebhookApi');
    try {
      const event = verifyWebhook(this.getRequestObject().rawBody, headers, String(secret));
      return { workflowData: [[{ json: { id: headers['webhook-id'], ...event } }]] };
    } catch {
      this.getResponseObject().status(UNAUTHORIZED).end('The webhook is not signed, or not recently');
      return { noWebhookResponse: true };
    }
  }
}
