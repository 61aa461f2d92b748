/** What is composed: a campaign or a mail of an automation. The pages for the content and its checks are the same for both. */

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { VNode } from 'preact';
import type { Static } from 'typebox';
import { type Attempt, ask, attempt, type Refusal } from '../../../dashboard/operations.ts';
import { countAudience, type Draft, readDraft, saveDraft } from '../../operations/drafts.ts';
import {
  checkSingleSendMail,
  readDesignUrl,
  readSingleSendCode,
  showSingleSendHtml,
  testSingleSend,
} from '../../operations/shown-mails.ts';
import { sendStep, stepPath } from './frame.tsx';
import { MissingParts, missingParts } from './missing.tsx';

/** As whom somebody sees a mail, and which variant of its A/B test. */
export interface Seen {
  /** The address of a person of its audience; without one, anybody of it. */
  email?: string;
  /** The number of the variant. */
  variant?: string;
}

export interface Composed
  extends Pick<
    Draft,
    'utr' | 'subject' | 'preheader' | 'content' | 'html_size' | 'template_id' | 'sender_id' | 'variants' | 'updated_at'
  > {
  name: string;
  /** Saves other content, unless it was changed since; gives null when it was saved, else why not. */
  save(content: Readonly<Record<string, string>>, unchangedSince: string): Promise<Refusal | null>;
  /** The HTML that it was given. */
  code(): Promise<string>;
  /** Its HTML as somebody sees it. */
  html(seen: Seen): Promise<string>;
  /** What its checks say of it as somebody sees it. */
  check(seen: Seen): Promise<Attempt<Static<typeof checkSingleSendMail.output>>>;
  /** Sends it as a test. */
  test(given: { email_address: string; variant?: string }): Promise<Attempt<unknown>>;
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

export const CAMPAIGN: ComposedKind = {
  route: '/mailings/:utr/edit',
  section: 'mailings',
  read: async (request, { utr }) => composedCampaign(request, (await ask(request, readDraft, { utr })).draft),
};

/** The campaign of this draft. */
export function composedCampaign(request: FastifyRequest, draft: Draft): Composed {
  const { utr } = draft;
  return {
    ...draft,
    name: draft.single_send_name,
    async save(content, unchanged_since) {
      const saved = await attempt(request, saveDraft, { ...content, utr, unchanged_since });
      return 'problems' in saved ? saved : null;
    },
    code: () => ask(request, readSingleSendCode, { utr }),
    html: (seen) => ask(request, showSingleSendHtml, { utr, ...seen }),
    check: (seen) => attempt(request, checkSingleSendMail, { utr, ...seen }),
    test: (given) => attempt(request, testSingleSend, { utr, ...given }),
    address: (step) => stepPath(utr, step),
    async missing() {
      const { audience } = await ask(request, countAudience, { utr });
      return <MissingParts utr={utr} missing={missingParts(draft, audience)} />;
    },
    readDesignUrl: () => ask(request, readDesignUrl, { utr }),
    send: (request, reply, { step, content, problem }) =>
      sendStep(request, reply, draft, step === 'check' ? 'check' : 'content', content, problem),
  };
}
