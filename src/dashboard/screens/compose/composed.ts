/** What is composed: a mailing or a mail of an automation. The pages for the content and its checks are the same for both. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { VNode } from 'preact';
import type { Draft } from '../../../single-sends/operations/drafts.ts';
import type { Refusal } from '../../operations.ts';

export interface Composed
  extends Pick<
    Draft,
    'utr' | 'subject' | 'preheader' | 'content' | 'html_size' | 'template_id' | 'sender_id' | 'variants' | 'updated_at'
  > {
  name: string;
  /** Saves other content, unless it was changed since; gives null when it was saved, else why not. */
  save(content: Readonly<Record<string, string>>, unchangedSince: string): Promise<Refusal | null>;
  /** Where it is shown and tested, and where its code is: paths below /api. */
  endpoints: { mail: string; html: string; check: string; test: string };
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
  /** Throws 404 where the account has none. */
  read(request: FastifyRequest, params: ComposedParams): Promise<Composed>;
}
