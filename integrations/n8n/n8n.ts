/**
 * What the nodes use of n8n, by the names that its package n8n-workflow has for it. Stated here because that package brings 160 others, and
 * the nodes need nothing of it when they run. `types/` compiles the nodes against that package.
 */
import type { IncomingHttpHeaders } from 'node:http';

export type Value = string | number | boolean | object | null | undefined;

export type Json = Record<string, Value>;

/** An item that goes from node to node; `pairedItem` is the number of the input item that it was made of. */
export type INodeExecutionData = {
  json: Json;
  pairedItem?: { item: number };
};

/** A field of a node or of credentials. */
export interface INodeProperties {
  displayName: string;
  name: string;
  type: 'string' | 'number' | 'options' | 'json';
  default: string | number;
  description?: string;
  placeholder?: string;
  required?: boolean;
  noDataExpression?: boolean;
  typeOptions?: { password?: boolean; rows?: number; minValue?: number };
  options?: { name: string; value: string; action?: string; description?: string }[];
  displayOptions?: { show: Record<string, string[]> };
}

export interface INodeTypeDescription {
  displayName: string;
  name: string;
  icon: 'fa:paper-plane';
  group: ('transform' | 'trigger')[];
  version: number;
  subtitle?: string;
  description: string;
  defaults: { name: string };
  inputs: 'main'[];
  outputs: 'main'[];
  credentials: { name: string; required: boolean }[];
  webhooks?: { name: 'default'; httpMethod: 'POST'; responseMode: 'onReceived'; path: string }[];
  properties: INodeProperties[];
}

export interface IHttpRequestOptions {
  method: 'GET' | 'POST';
  baseURL: string;
  url: string;
  qs?: Record<string, string | number>;
  body?: Json;
  headers?: Record<string, string>;
  json: true;
  disableFollowRedirect: true;
}

export interface IExecuteFunctions {
  getInputData(): readonly unknown[];
  getNodeParameter(name: string, item: number, fallback?: Value): Value;
  getCredentials(name: string): Promise<Json>;
  continueOnFail(): boolean;
  helpers: {
    httpRequestWithAuthentication(name: string, options: IHttpRequestOptions): Promise<unknown>;
  };
}

export interface IWebhookFunctions {
  getCredentials(name: string): Promise<Json>;
  getHeaderData(): IncomingHttpHeaders;
  getRequestObject(): { rawBody: Buffer };
  getResponseObject(): { status(code: number): { end(text: string): unknown } };
}

export interface IWebhookResponseData {
  workflowData?: INodeExecutionData[][];
  noWebhookResponse?: boolean;
}
