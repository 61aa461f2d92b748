/** What is composed: a mailing or a mail of an automation. The pages for the content and its checks are the same for both. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { VNode } from 'preact';
import type { ApiClient } from '../../api-client.ts';
import type { Draft } from './records.ts';

export interface Composed
  extends Pick<
    Draft,
    'utr' | 'subject' | 'preheader' | 'content' | 'html_size' | 'template_id' | 'sender_id' | 'variants' | 'updated_at'
  > {
  name: string;
  /** Where it is saved, shown and tested, and where its code is: paths below /api. */
  endpoints: { save: string; mail: string; html: string; check: string; test: string };
  /** The address of one of its pages. */
  address(step: string): string;
  /** What it still lacks before it can be sent, as a part of the page. */
  missing(): Promise<VNode | null>;
  /** The link to its designer. */
  readDesignUrl(): Promise<string>;
  /** Sends one of its pages. `problem` is what went wrong with the form that was sent. */
  send(
    request: FastifyRequest,
    reply: FastifyReply,
    page: { step: string; content: VNode; problem?: string | undefined },
  ): unknown;
}

/** The parameters of its addresses. */
export interface ComposedParams {
  utr: string;
  /** The utr of its automation, if it is in one. */
  automation?: string;
}

export interface ComposedKind {
  /** What the addresses of its pages begin with, with parameters. */
  route: string;
  section: 'mailings' | 'automations';
  /** Throws an ApiFailure where the account has none. */
  read(api: ApiClient, params: ComposedParams): Promise<Composed>;
}
