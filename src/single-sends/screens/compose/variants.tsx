/** The A/B test of a mailing: what its variants have of their own, on how many people they are tried, and how the winner is found. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiClient, refusalOf, refusalText } from '../../../dashboard/api-client.ts';
import type { Problems } from '../../../dashboard/components/field.tsx';
import { setFlash } from '../../../dashboard/flash.ts';
import { ask } from '../../../dashboard/operations.ts';
import { languageOf } from '../../../dashboard/page.tsx';
import { field } from '../../../dashboard/sign-in/fields.ts';
import { viewerOf } from '../../../dashboard/signed-in.ts';
import { READ } from '../../../http/pages/layout.ts';
import { listTemplates } from '../../../templates/operations.ts';
import { readDraft } from '../../operations/drafts.ts';
import { QUEUED } from './choices.ts';
import { sendStep, stepAddress } from './frame.tsx';
import { VariantsPage } from './variants-form.tsx';
import { type GivenTest, MOST_VARIANTS, OWN_FIELDS, readTest } from './variants-records.ts';

interface ByUtr {
  Params: { utr: string };
}

const CONFLICT = 409;
const UNPROCESSABLE = 422;
const SEE_OTHER = 303;

export async function variantsScreen(app: FastifyInstance): Promise<void> {
  app.route<ByUtr>({
    method: READ,
    url: '/mailings/:utr/edit/variants',
    handler: (request, reply) => show(request, reply),
  });

  app.post<ByUtr>('/mailings/:utr/edit/variants', async (request, reply) => {
    const given = givenTest(request);
    if (given.variants.length > 0) return save(request, reply, given);
    const problem = languageOf(request, viewerOf(request)).say('compose.variants.empty');
    return show(request, reply.code(UNPROCESSABLE), { given, problem });
  });

  app.post<ByUtr>('/mailings/:utr/edit/variants/remove', (request, reply) => save(request, reply, null));

  /** Saves a test, which takes the place of a first part of the recipients, or with null takes it away. */
  async function save(request: FastifyRequest<ByUtr>, reply: FastifyReply, given: GivenTest | null) {
    const { utr } = request.params;
    const api = new ApiClient(app, request);
    const hadFirstPart = given !== null && (await ask(request, readDraft, { utr })).draft.canary_percent > 0;
    const of = (own: (typeof OWN_FIELDS)[number]) => given?.variants.map((variant) => variant[own]);
    const answer = await api.send('POST', '/single/send/variants', {
      utr,
      unchanged_since: field(request, 'unchanged_since'),
      ...(given !== null && {
        subjects: of('subject'),
        preheaders: of('preheader'),
        sender_names: of('sender_name'),
        template_ids: of('template_id'),
        share: given.share,
        winner_by: given.winner_by,
        hours: given.hours,
        canary_percent: 0,
      }),
    });
    if (answer.message !== undefined) {
      const saved = hadFirstPart ? 'compose.variants.savedWhole' : 'compose.saved';
      setFlash(reply, 'good', given === null ? 'compose.variants.removed' : saved);
      return reply.redirect(stepAddress(utr, given === null ? 'content' : 'variants'), SEE_OTHER);
    }
    if (answer.status === CONFLICT && (await ask(request, readDraft, { utr })).draft.status > QUEUED) {
      setFlash(reply, 'bad', 'compose.locked');
      return reply.redirect(`/mailings/${encodeURIComponent(utr)}`, SEE_OTHER);
    }
    const language = languageOf(request, viewerOf(request));
    const { problems } = refusalOf(answer);
    const problem = answer.status === CONFLICT ? language.say('compose.variants.changed') : refusalText(answer);
    return show(request, reply.code(answer.status), { ...(given && { given }), problems, problem });
  }

  async function show(
    request: FastifyRequest<ByUtr>,
    reply: FastifyReply,
    { problem, ...sent }: { given?: GivenTest; problems?: Problems; problem?: string } = {},
  ) {
    const api = new ApiClient(app, request);
    const { utr } = request.params;
    const [{ draft }, stored, templates] = await Promise.all([
      ask(request, readDraft, { utr }),
      readTest(api, utr),
      ask(request, listTemplates, { built_in: 1 }),
    ]);
    const content = <VariantsPage {...{ draft, stored, templates, ...sent }} />;
    return sendStep(request, reply, draft, 'content', content, problem);
  }
}

/** What the form has; variants without anything of their own are left out. */
function givenTest(request: FastifyRequest): GivenTest {
  const variants = Array.from({ length: MOST_VARIANTS }, (_, at) => {
    const given = (own: (typeof OWN_FIELDS)[number]) => field(request, `${own}_${at + 1}`).trim();
    return {
      subject: given('subject'),
      preheader: given('preheader'),
      sender_name: given('sender_name'),
      template_id: given('template_id'),
    };
  });
  return {
    variants: variants.filter((variant) => OWN_FIELDS.some((own) => variant[own] !== '')),
    share: field(request, 'share'),
    winner_by: field(request, 'winner_by'),
    hours: field(request, 'hours'),
  };
}
