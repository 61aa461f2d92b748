/** The page that the link in a confirmation mail opens. Only a button on the page confirms, because mail scanners open links. */
import { eq } from 'drizzle-orm';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { Fragment } from 'preact';
import { senders } from '../../database/schema/index.ts';
import { chosenGroups, confirmLink, readLink } from '../../forms/confirm.ts';
import { filledFields } from '../../forms/fields.ts';
import { type Form, formPath } from '../../forms/forms.ts';
import { shownGroups } from '../../forms/shown-form.ts';
import { fieldLabel } from '../../http/pages/form-markup.tsx';
import { type BrandedForm, formPage, statePage } from '../../http/pages/form-page.tsx';
import { pageRoute, unknownLink } from '../../http/pages/layout.ts';
import { wordsIn } from '../../http/pages/words/index.ts';
import type { Deps } from '../../operations/deps.ts';
import { publicBrand } from '../../templates/brand/brand.ts';
import { networkOf } from '../../users/throttle.ts';

interface BySecret {
  Params: { secret: string };
}

/** How long a confirmation waits for the write lock. */
const LOCK_WAIT_MS = 10_000;

/** Registers the page on which a visitor confirms the subscription that was requested with a form. */
export async function confirmRoutes(app: FastifyInstance, { db, lock, clock, tokens, wake }: Deps): Promise<void> {
  pageRoute<BySecret>(app, '/f/confirm/:secret', async (request, reply) => {
    const link = readLink(db, request.params.secret, clock.now());
    if (link.state === 'gone') return unknownLink(reply);
    const form = branded(link.form);
    if (link.state !== 'open') return sendState(reply, link.state, form);
    const words = wordsIn(form.language).form;
    const { email, given, groups, consent_text, tracking_text } = link.request;
    const filled = filledFields(db, form, given);
    const chosen = shownGroups(db, form.user_id, chosenGroups(groups));
    return formPage(
      reply,
      form,
      <>
        <h1>{form.title}</h1>
        <p>{words.confirmFor(email)}</p>
        <p class="quiet">{consent_text}</p>
        {tracking_text !== '' && <p class="quiet">{tracking_text}</p>}
        {(filled.length > 0 || chosen.length > 0) && (
          <section>
            <h2>{words.filledIn}</h2>
            <dl>
              {filled.map((field) => (
                <Fragment key={field.key}>
                  <dt>{fieldLabel(words, field)}</dt>
                  <dd>{given[field.key]}</dd>
                </Fragment>
              ))}
              {chosen.length > 0 && <dt>{words.chosen}</dt>}
              {chosen.map(({ id, group_name }) => (
                <dd key={id}>{group_name}</dd>
              ))}
            </dl>
          </section>
        )}
        <form method="post">
          <button type="submit">{words.confirm}</button>
        </form>
        <p class="quiet">{words.notYou}</p>
      </>,
      { sends: 'redirected' },
    );
  });

  app.post<BySecret>('/f/confirm/:secret', async (request, reply) => {
    const { secret } = request.params;
    const confirm = () => confirmLink(db, secret, networkOf(request.ip), clock.now());
    const link = await lock.write(confirm, LOCK_WAIT_MS);
    if (link.state === 'gone') return unknownLink(reply);
    const { state } = link;
    const form = branded(link.form);
    if (state === 'expired') return sendState(reply, state, form);
    wake();
    if (state === 'confirmed' && form.redirect_url !== '') return reply.redirect(form.redirect_url, 303);
    return state === 'confirmed' ? statePage(reply, form, form.confirmed_text) : sendState(reply, state, form);
  });

  function branded(form: Form): BrandedForm {
    return { ...form, brand: publicBrand(db, form.user_id) };
  }

  function sendState(
    reply: FastifyReply,
    state: 'already' | 'suppressed' | 'expired',
    form: BrandedForm,
  ): FastifyReply {
    if (state === 'suppressed') return statePage(reply, form, suppressedText(form));
    if (state === 'already') return statePage(reply, form, form.already_text);
    return statePage(reply.code(410), form, form.expired_text, linkToForm(form));
  }

  /** Returns the text for a suppressed address. Only visitors with the link from the mail see it, and they own the address. */
  function suppressedText({ language, sender_id }: Form): string {
    const sender = db.select({ reply: senders.reply_to_email }).from(senders).where(eq(senders.id, sender_id)).get();
    return wordsIn(language).form.suppressed(sender?.reply ?? '');
  }

  function linkToForm({ id, language }: Form) {
    return (
      <p>
        <a href={formPath(tokens, id)}>{wordsIn(language).form.toForm}</a>
      </p>
    );
  }
}
