/** A mailing, as the pages for the content and its checks compose it. */

import type { ApiClient } from '../../api-client.ts';
import type { Composed, ComposedKind } from './composed.ts';
import { sendStep, stepAddress } from './frame.tsx';
import { MissingParts } from './missing.tsx';
import type { Draft } from './records.ts';
import { missingParts, readAudience, readDraft } from './records.ts';

export const MAILING: ComposedKind = {
  route: '/mailings/:utr/edit',
  section: 'mailings',
  read: async (api, { utr }) => composedMailing(api, await readDraft(api, utr)),
};

/** The mailing of this draft. */
export function composedMailing(api: ApiClient, draft: Draft): Composed {
  const { utr } = draft;
  return {
    ...draft,
    name: draft.single_send_name,
    endpoints: {
      save: '/single/send/save',
      mail: '/single-send/mail',
      html: '/single-send/html',
      check: '/single-send/check',
      test: '/single/send/test',
    },
    address: (step) => stepAddress(utr, step),
    missing: async () => <MissingParts utr={utr} missing={missingParts(draft, await readAudience(api, utr))} />,
    readDesignUrl: async () =>
      (await api.get<{ report: { design_url: string } }>('/single-send/report', { utr })).report.design_url,
    send: (request, reply, { step, content, problem }) =>
      sendStep(request, reply, draft, step === 'check' ? 'check' : 'content', content, problem),
  };
}
