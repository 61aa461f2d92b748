/** What the shared pages for language versions need to know about a campaign. */
import type { FastifyRequest } from 'fastify';
import type { Translated, TranslatedKind } from '../../templates/languages/screens/versions.tsx';
import { ask, attempt } from '../../ui/operations.ts';
import { withQuery } from '../../ui/with-query.ts';
import { readDraft } from '../operations/drafts.ts';
import { listLanguages, removeLanguage, saveLanguage } from '../operations/languages.ts';
import { sendStep, stepPath } from './compose/step.tsx';

export const CAMPAIGN_LANGUAGES: TranslatedKind<{ utr: string }> = {
  route: '/campaigns/:utr/edit/languages',
  read: async (request: FastifyRequest, { utr }): Promise<Translated> => {
    const [{ draft }, versions] = await Promise.all([
      ask(request, readDraft, { utr }),
      ask(request, listLanguages, { utr }),
    ]);
    return {
      subject: draft.subject,
      versions,
      updatedAt: draft.updated_at,
      address: stepPath(utr, 'languages'),
      back: { href: stepPath(utr, 'content'), label: 'compose.design.back' },
      see: (number) => withQuery(stepPath(utr, 'check'), { variant: String(number) }),
      save: (values) => attempt(request, saveLanguage, { utr, ...values }),
      remove: (values) => attempt(request, removeLanguage, { utr, ...values }),
      send: (reply, content, problem) => sendStep(request, reply, draft, 'content', content, problem),
    };
  },
};
