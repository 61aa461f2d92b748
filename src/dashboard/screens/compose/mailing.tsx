/** A mailing, as the pages for the content and its checks compose it. */
import type { FastifyRequest } from 'fastify';
import { countAudience, type Draft, readDraft, saveDraft } from '../../../single-sends/operations/drafts.ts';
import { ApiClient } from '../../api-client.ts';
import { ask, attempt } from '../../operations.ts';
import type { Composed, ComposedKind } from './composed.ts';
import { sendStep, stepAddress } from './frame.tsx';
import { MissingParts } from './missing.tsx';
import { missingParts } from './records.ts';

export const MAILING: ComposedKind = {
  route: '/mailings/:utr/edit',
  section: 'mailings',
  read: async (request, { utr }) => composedMailing(request, (await ask(request, readDraft, { utr })).draft),
};

/** The mailing of this draft. */
export function composedMailing(request: FastifyRequest, draft: Draft): Composed {
  const { utr } = draft;
  return {
    ...draft,
    name: draft.single_send_name,
    async save(content, unchanged_since) {
      const saved = await attempt(request, saveDraft, { ...content, utr, unchanged_since });
      return 'problems' in saved ? saved : null;
    },
    endpoints: {
      mail: '/single-send/mail',
      html: '/single-send/html',
      check: '/single-send/check',
      test: '/single/send/test',
    },
    address: (step) => stepAddress(utr, step),
    async missing() {
      const { audience } = await ask(request, countAudience, { utr });
      return <MissingParts utr={utr} missing={missingParts(draft, audience)} />;
    },
    async readDesignUrl() {
      const api = new ApiClient(request.server, request);
      return (await api.get<{ report: { design_url: string } }>('/single-send/report', { utr })).report.design_url;
    },
    send: (request, reply, { step, content, problem }) =>
      sendStep(request, reply, draft, step === 'check' ? 'check' : 'content', content, problem),
  };
}
