/** Leaving: one click from the mail program (RFC 8058), and the preference page. A GET changes nothing: scanners click (trust 20). */
import { setTimeout } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { RecipientIds } from '../delivery/links/tokens.ts';
import type { Deps } from '../deps.ts';
import { Failure, unavailable } from '../failure.ts';
import { type FormBody, listOf, MALFORMED } from '../http/form-fields.ts';
import { html } from '../http/html.ts';
import { page, READ, unknownLink } from '../http/page-layout.ts';
import { PreferenceStore, type Preferences } from './preferences.ts';

interface Link {
  Params: { token: string };
  Body: FormBody | undefined;
}

/** After this time whoever clicked is told to try again; what they chose is still written once that is possible. */
const ANSWER_MS = 30_000;
const KEPT_MS = 60 * 60 * 1000;
/** More choices than this are not kept in memory while the database is locked. */
const MOST_KEPT = 10_000;

export async function unsubscribePage(app: FastifyInstance, { db, lock, clock, config, tokens }: Deps): Promise<void> {
  const book = new PreferenceStore(db, clock);
  const kept = new Set<Promise<unknown>>();
  const idsOf = (token: string) => tokens.readRecipient('unsubscribe', token);
  app.addHook('onClose', () =>
    Promise.race([Promise.allSettled(kept), setTimeout(config.SHUTDOWN_SECONDS * 1000, null, { ref: false })]),
  );

  app.route({
    method: READ,
    url: '/u/shared',
    handler: (_request, reply) =>
      page(
        reply,
        'Unsubscribing works from the mail',
        html`<h1>Unsubscribing works from the mail</h1>
<p>You came from a copy of a mail in the browser. Such copies are passed on, so the link that unsubscribes is only in the mail itself.
Please open the mail and use the link at its end, or the unsubscribe button of your mail program.</p>`,
      ),
  });

  app.route<Link>({
    method: READ,
    url: '/u/:token',
    handler: (request, reply) => {
      const ids = idsOf(request.params.token);
      return ids === null ? unknownLink(reply) : show(reply, book.read(ids), '');
    },
  });

  app.post<Link>('/u/:token', async (request, reply) => {
    const ids = idsOf(request.params.token);
    if (ids === null) return unknownLink(reply);
    const choice = choiceOf(request.body);
    // Answered as done only once it is on disk.
    const notice = await keep(() => act(ids, book.read(ids), choice));
    return show(reply, book.read(ids), notice);
  });

  /** Does the write as soon as the lock is free, even when nobody waits for it any more; throws 503 when that takes too long. */
  async function keep<T>(write: () => T): Promise<T> {
    if (kept.size >= MOST_KEPT) throw unavailable();
    const written = lock.write(write, KEPT_MS);
    const settled = written.then(
      () => undefined,
      (error) => app.log.error({ err: error }, 'a choice about mail could not be written'),
    );
    kept.add(settled);
    void settled.then(() => kept.delete(settled));
    const patience = new AbortController();
    const late = setTimeout(ANSWER_MS, null, { signal: patience.signal, ref: false }).then(() => {
      throw unavailable();
    });
    try {
      return await Promise.race([written, late]);
    } finally {
      late.catch(() => undefined);
      patience.abort();
    }
  }

  /** Does what was chosen; gives what the page then says. */
  function act(ids: RecipientIds, before: Preferences, { form, shown, on }: Choice): string {
    switch (form) {
      case 'groups':
        book.choose(ids, before, shown, on);
        return 'Your choices are saved.';
      case 'none':
        book.leave(ids, before, 0, 'page');
        return 'You will get no more mail from us.';
      case 'back':
        book.comeBack(before);
        return 'Welcome back. Please look at your choices below.';
      default:
        book.leave(ids, before, before.own, 'one-click');
        return `You are unsubscribed${nameOf(before)}.`;
    }
  }
}

interface Choice {
  /** Which form of the page was sent; null: a one-click request, which sends none of them. */
  form: 'groups' | 'none' | 'back' | null;
  /** The groups that were shown, and those of them that are wanted. */
  shown: ReadonlySet<number>;
  on: ReadonlySet<number>;
}

/** What a request asks for; throws the 422 where it is one of the page's forms but not as the page sends it. */
function choiceOf(body: FormBody = Object.create(null)): Choice {
  const { form = null } = body;
  const faulty = new Failure(422, 'That is not a form of this page');
  if (MALFORMED in body || (form !== null && form !== 'groups' && form !== 'none' && form !== 'back')) throw faulty;
  const listed = (name: string) => {
    const ids = listOf(body[name]);
    if (ids === null) throw faulty;
    return new Set(ids.map(Number));
  };
  return { form, shown: listed('shown'), on: listed('on') };
}

function nameOf({ groups, own }: Preferences): string {
  const group = groups.find(({ id }) => id === own);
  return group === undefined ? '' : ` from “${group.group_name}”`;
}

function show(reply: FastifyReply, preferences: Preferences, notice: string): FastifyReply {
  const { email, sender, groups, own, left } = preferences;
  const choices = groups.map(
    ({ id, group_name, description }) => html`
<label class="choice"><input type="checkbox" name="on" value="${id}"${left.has(id) ? '' : html` checked`}>
<span>${group_name}${id === own ? html` <small>The mail you came from</small>` : ''}${description === '' ? '' : html`<small>${description}</small>`}</span></label>
<input type="hidden" name="shown" value="${id}">`,
  );
  const some = html`
<form method="post"><input type="hidden" name="form" value="groups">
<fieldset><legend>What would you like to get?</legend>${choices}</fieldset>
<button>Save my choices</button></form>
<section><h2>No mail at all</h2>
<p class="quiet">Takes ${email} off everything, now and in the future.</p>
<form method="post"><input type="hidden" name="form" value="none"><button class="plain">Unsubscribe from all mail</button></form></section>`;
  const nothing = html`
<p>${email} gets no mail from us at all.</p>
<form method="post"><input type="hidden" name="form" value="back"><button>Get mail again</button></form>`;
  return page(
    reply,
    'Your mail preferences',
    html`${sender === '' ? '' : html`<p class="from">${sender}</p>`}
<h1>Your mail preferences</h1>
${notice === '' ? '' : html`<p class="notice" role="status">${notice}</p>`}
${left.has(0) ? nothing : html`<p class="quiet">For ${email}</p>${some}`}`,
  );
}
