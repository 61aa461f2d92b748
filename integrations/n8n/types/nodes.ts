/** Compiles only if n8n can load the nodes and credentials, and gives them what they use of it. */
import type {
  ICredentialType,
  INodeType,
  IExecuteFunctions as RealExecuteFunctions,
  IWebhookFunctions as RealWebhookFunctions,
} from 'n8n-workflow';
import { SendlarkApi } from '../credentials/SendlarkApi.credentials.ts';
import { SendlarkWebhookApi } from '../credentials/SendlarkWebhookApi.credentials.ts';
import type { IExecuteFunctions, IWebhookFunctions } from '../n8n.ts';
import { Sendlark } from '../nodes/Sendlark.node.ts';
import { SendlarkTrigger } from '../nodes/SendlarkTrigger.node.ts';

export const nodes: INodeType[] = [new Sendlark(), new SendlarkTrigger()];
export const credentials: ICredentialType[] = [new SendlarkApi(), new SendlarkWebhookApi()];
export const given = (execution: RealExecuteFunctions): IExecuteFunctions => execution;
export const arrived = (webhook: RealWebhookFunctions): IWebhookFunctions => webhook;
