/** Unsubscribing with one click in the mail program (RFC 8058), and the preference page. A GET changes nothing, because mail scanners open links. */
import { setTimeout } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { RecipientIds } from '../delivery/links/tokens.ts';
import type { Deps } from '../deps.ts';
import { Failure, unavailable } from '../failure.ts';
import { type FormBody, MALFORMED, textList } from '../http/form-fields.ts';
import { html } from '../http/html.ts';
import { page, READ, unknownLink } from '../http/page-layout.ts';
import { PreferenceStore, type Preferences } from './preferences.ts';

interface Link {
  Params: { token: string };
  Body: FormBody | undefined;
}

/** After this time the answer says to try again. The choice stays in memory for PENDING_MS and is written once that is possible. */
const ANSWER_MS = 30_000;
const PENDING_MS = 60 * 60 * 1000;
/** The most choices waiting in memory while the database is locked. */
const MAX_PENDING = 10_000;

export async function unsubscribePage(app: FastifyInstance, { db, lock, clock, config, tokens }: Deps): Promise<void> {
  const store = new PreferenceStore(db, clock);
  const pending = new Set<Promise<unknown>>();
  const readToken = (token: string) => tokens.readRecipient('unsubscribe', token);
  app.addHook('onClose', () =>
    Promise.race([Promise.allSettled(pending), setTimeout(config.SHUTDOWN_SECONDS * 1000, null, { ref: false })]),
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
      const ids = readToken(request.params.token);
      return ids === null ? unknownLink(reply) : show(reply, store.read(ids), '');
    },
  });

  app.post<Link>('/u/:token', async (request, reply) => {
    const ids = readToken(request.params.token);
    if (ids === null) return unknownLink(reply);
    const choice = readChoice(request.body);
    // The page confirms the choice only after it was written.
    const notice = await writeWhenFree(() => act(ids, store.read(ids), choice));
    return show(reply, store.read(ids), notice);
  });

  /** Runs `write` as soon as the lock is free. Throws 503 when that takes too long; the write is then still made later. */
  async function writeWhenFree<T>(write: () => T): Promise<T> {
    if (pending.size >= MAX_PENDING) throw unavailable();
    const written = lock.write(write, PENDING_MS);
    const finished = written.then(
      () => undefined,
      (error) => app.log.error({ err: error }, 'a choice on the preference page could not be written'),
    );
    pending.add(finished);
    void finished.then(() => pending.delete(finished));
    const answered = new AbortController();
    const late = setTimeout(ANSWER_MS, null, { signal: answered.signal, ref: false }).then(() => {
      throw unavailable();
    });
    try {
      return await Promise.race([written, late]);
    } finally {
      late.catch(() => undefined);
      answered.abort();
    }
  }

  /** Carries out a choice; gives the notice that the page then shows. */
  function act(ids: RecipientIds, before: Preferences, { form, shown, checked }: Choice): string {
    switch (form) {
      case 'groups':
        store.saveChoices(ids, before, shown, checked);
        return 'Your choices are saved.';
      case 'none':
        store.unsubscribe(ids, before, 0, 'page');
        return 'You will get no more mail from us.';
      case 'back':
        store.resubscribe(before);
        return 'Welcome back. Please look at your choices below.';
      default:
        store.unsubscribe(ids, before, before.own, 'one-click');
        return `You are unsubscribed${groupSuffix(before)}.`;
    }
  }
}

interface Choice {
  /** The form of the page that was sent; null for a one-click request. */
  form: 'groups' | 'none' | 'back' | null;
  /** The groups that were shown, and those of them that were checked. */
  shown: ReadonlySet<number>;
  checked: ReadonlySet<number>;
}

/** Reads the choice of a request. Throws 422 when it is not a form as the page sends it. */
function readChoice(body: FormBody = Object.create(null)): Choice {
  const { form = null } = body;
  const faulty = new Failure(422, 'That is not a form of this page');
  if (MALFORMED in body || (form !== null && form !== 'groups' && form !== 'none' && form !== 'back')) throw faulty;
  const listed = (name: string) => {
    const ids = textList(body[name]);
    if (ids === null) throw faulty;
    return new Set(ids.map(Number));
  };
  return { form, shown: listed('shown'), checked: listed('on') };
}

function groupSuffix({ groups, own }: Preferences): string {
  const group = groups.find(({ id }) => id === own);
  return group === undefined ? '' : ` from “${group.group_name}”`;
}

function show(reply: FastifyReply, preferences: Preferences, notice: string): FastifyReply {
  const { email, sender, groups, own, unsubscribed } = preferences;
  const choices = groups.map(
    ({ id, group_name, description }) => html`
<label class="choice"><input type="checkbox" name="on" value="${id}"${unsubscribed.has(id) ? '' : html` checked`}>
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
${unsubscribed.has(0) ? nothing : html`<p class="quiet">For ${email}</p>${some}`}`,
  );
}
