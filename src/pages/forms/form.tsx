/**
 * The page of a public form. Its reply does not reveal whether an address is known already. The proof of work needs a script; without
 * scripts the form works for a few visitors per hour only.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Challenges } from '../../forms/challenges.ts';
import { type Form, findFormByToken, formOffCode } from '../../forms/forms.ts';
import { type Outcome, takeRequest } from '../../forms/requests.ts';
import { readShown } from '../../forms/shown-form.ts';
import { type Faults, type Filled, FormInputs, NOTHING_FILLED, TRAP } from '../../http/pages/form-markup.tsx';
import { type BrandedForm, formPage, Paragraphs, statePage } from '../../http/pages/form-page.tsx';
import { pageRoute, unknownPage } from '../../http/pages/layout.ts';
import { wordsIn } from '../../http/pages/words/index.ts';
import type { FormBody } from '../../http/requests/form-fields.ts';
import { builtFile, builtUrls } from '../../http/static-files.ts';
import type { Deps } from '../../operations/deps.ts';
import { publicBrand } from '../../templates/brand/brand.ts';
import { MINUTE_MS } from '../../units.ts';
import { networkOf } from '../../users/throttle.ts';
import { FloodLimit } from '../flood-limit.ts';
import { filledForm, readFilled } from './read-filled.ts';
import { ShownCounts } from './shown-counts.ts';

interface ByToken {
  Params: { token: string };
  Body: FormBody | undefined;
}

/**
 * Why the form is shown again. `again`: the proof was missing, expired or used before. `faulty`: a field has a fault. `busy` and
 * `unproven`: a limit was reached, as in `Outcome`.
 */
type Notice = 'again' | 'faulty' | 'busy' | 'unproven';
const STATUSES = { again: 200, faulty: 422, busy: 429, unproven: 429 };
/** The maximum number of forms that a network can submit per minute. Further ones are refused before the proof of work is verified. */
const MAX_PER_MINUTE = 60;
// Seconds for the header Retry-After: the limit above is per minute, the other limits are per hour.
const MINUTE_S = 60;
const HOUR_S = 60 * 60;
/** How long a submitted form waits for the write lock while many are submitted at once. */
const LOCK_WAIT_MS = 10_000;

/** Registers the public pages of forms. */
export async function formRoutes(app: FastifyInstance, deps: Deps): Promise<void> {
  const { db, lock, config, clock, tokens, wake } = deps;
  const challenges = new Challenges(tokens);
  const shownCounts = new ShownCounts(app, deps);
  const floodLimit = new FloodLimit(clock, { most: MAX_PER_MINUTE, windowMs: MINUTE_MS });
  const findForm = (token: string): BrandedForm | undefined => {
    const form = findFormByToken(db, tokens, token);
    return form && { ...form, brand: publicBrand(db, form.user_id) };
  };

  pageRoute<ByToken>(app, '/f/:token', async (request, reply) => {
    const form = findForm(request.params.token);
    if (form === undefined) return unknownPage(reply);
    if (isOff(form)) return statePage(reply, form, form.off_text);
    if (request.method === 'GET') shownCounts.add(form.id);
    return sendForm(reply, form, NOTHING_FILLED, new Map(), null);
  });

  app.post<ByToken>('/f/:token', async (request, reply) => {
    const { token } = request.params;
    const form = findForm(token);
    if (form === undefined) return unknownPage(reply);
    if (isOff(form)) return statePage(reply.code(409), form, form.off_text);
    const body: FormBody = request.body ?? Object.create(null);
    const filled = readFilled(readShown(db, form), body);
    if (floodLimit.count(networkOf(request.ip)) === 'too many')
      return sendForm(reply.header('retry-after', MINUTE_S), form, filled.values, new Map(), 'busy');
    // Only a bot fills in the trap field. The bot gets the same reply as if the form was accepted.
    if (body[TRAP] !== undefined && body[TRAP] !== '') return reply.redirect(`/f/${token}/sent`, 303);
    if (filled.address === null || filled.faults.size > 0)
      return sendForm(reply, form, filled.values, filled.faults, 'faulty');
    const outcome = await takeForm(request, form, filled, body.proof);
    if (outcome === 'used') return sendForm(reply, form, filled.values, new Map(), 'again');
    if (outcome !== 'taken')
      return sendForm(reply.header('retry-after', HOUR_S), form, filled.values, new Map(), outcome);
    wake();
    return reply.redirect(`/f/${token}/sent`, 303);
  });

  pageRoute<ByToken>(app, '/f/:token/sent', async (request, reply) => {
    const form = findForm(request.params.token);
    return form === undefined ? unknownPage(reply) : statePage(reply, form, form.sent_text);
  });

  // The script on websites that embed the form reads a challenge here. Other origins may read it because it is not secret.
  app.get<ByToken>('/f/:token/challenge', async (request, reply) => {
    const form = findForm(request.params.token);
    if (form === undefined || isOff(form)) return unknownPage(reply);
    reply.header('access-control-allow-origin', '*').type('application/json; charset=utf-8');
    return reply.send(JSON.stringify({ proof: await challenges.create(form.id, clock.now().getTime()) }));
  });

  // This URL must not change, because websites load the script from it.
  let script: Buffer | null = null;
  app.get('/f/form.js', (_request, reply) => {
    script ??= builtFile('form');
    reply.header('access-control-allow-origin', '*').header('cache-control', 'public, max-age=3600');
    return reply
      .header('cross-origin-resource-policy', 'cross-origin')
      .type('text/javascript; charset=utf-8')
      .send(script);
  });

  function isOff(form: Form): boolean {
    return formOffCode(db.$client, config, form) !== null;
  }

  /** Verifies the submitted proof and accepts the request. */
  async function takeForm(
    request: FastifyRequest,
    form: Form,
    filled: ReturnType<typeof readFilled>,
    proofText: unknown,
  ): Promise<Outcome> {
    const now = clock.now();
    const proof = await challenges.verify(typeof proofText === 'string' ? proofText : '', form.id, now.getTime());
    if (proof.kind === 'none' || filled.address === null) return 'used';
    const input = filledForm(filled.address, filled.values, readShown(db, form), networkOf(request.ip), proof);
    return lock.write(() => takeRequest(deps, form, input, now), LOCK_WAIT_MS);
  }

  /** Sends the page with the form, the values filled in, and a new challenge. */
  async function sendForm(
    reply: FastifyReply,
    form: BrandedForm,
    values: Filled,
    faults: Faults,
    notice: Notice | null,
  ): Promise<FastifyReply> {
    const words = wordsIn(form.language).form;
    const proof = await challenges.create(form.id, clock.now().getTime());
    if (notice !== null) reply.code(STATUSES[notice]);
    return formPage(
      reply,
      form,
      <>
        <h1>{form.title}</h1>
        <Paragraphs text={form.intro} />
        {notice !== null && (
          <p class={notice === 'again' ? 'notice' : 'notice wrong'} role="alert">
            {words[notice]}
          </p>
        )}
        <form method="post" data-sendlark="">
          <FormInputs shown={readShown(db, form)} filled={values} faults={faults} proof={proof} />
          <p class="quiet working" role="status" data-working={words.working} />
        </form>
      </>,
      { script: builtUrls('form').url, sends: 'here' },
    );
  }
}
