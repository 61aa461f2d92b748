/** Unsubscribing with one click in the mail program (RFC 8058), and the preference page. A GET changes nothing, because mail scanners open links. */
import { setTimeout } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { RecipientIds } from '../delivery/links/tokens.ts';
import type { Deps } from '../deps.ts';
import { Failure, unavailable } from '../failure.ts';
import { html } from '../http/pages/html.ts';
import { messagePage, page, READ, unknownLink } from '../http/pages/layout.ts';
import { chooseWords, type PageWords } from '../http/pages/words/index.ts';
import { type FormBody, MALFORMED, textList } from '../http/requests/form-fields.ts';
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
    handler: (_request, reply) => messagePage(reply, 'sharedCopy'),
  });

  app.route<Link>({
    method: READ,
    url: '/u/:token',
    handler: (request, reply) => {
      const ids = readToken(request.params.token);
      return ids === null ? unknownLink(reply) : show(reply, chooseWords(reply), store.read(ids), '');
    },
  });

  app.post<Link>('/u/:token', async (request, reply) => {
    const ids = readToken(request.params.token);
    if (ids === null) return unknownLink(reply);
    const words = chooseWords(reply);
    const choice = readChoice(request.body);
    // The page confirms the choice only after it was written.
    const notice = await writeWhenFree(() => act(ids, store.read(ids), choice, words.preferences));
    return show(reply, words, store.read(ids), notice);
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
  function act(
    ids: RecipientIds,
    before: Preferences,
    { form, shown, checked }: Choice,
    words: PageWords['preferences'],
  ): string {
    switch (form) {
      case 'groups':
        store.saveChoices(ids, before, shown, checked);
        return words.saved;
      case 'none':
        store.unsubscribe(ids, before, 0, 'page');
        return words.leftAll;
      case 'back':
        store.resubscribe(before);
        return words.isBack;
      default:
        store.unsubscribe(ids, before, before.own, 'one-click');
        return leftNotice(before, words);
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

function leftNotice({ groups, own }: Preferences, words: PageWords['preferences']): string {
  const group = groups.find(({ id }) => id === own);
  return group === undefined ? words.left : words.leftGroup(group.group_name);
}

function show(reply: FastifyReply, words: PageWords, preferences: Preferences, notice: string): FastifyReply {
  const { email, sender, groups, own, unsubscribed } = preferences;
  const text = words.preferences;
  const choices = groups.map(
    ({ id, group_name, description }) => html`
<label class="choice"><input type="checkbox" name="on" value="${id}"${unsubscribed.has(id) ? '' : html` checked`}>
<span>${group_name}${id === own ? html` <small>${text.own}</small>` : ''}${description === '' ? '' : html`<small>${description}</small>`}</span></label>
<input type="hidden" name="shown" value="${id}">`,
  );
  const some = html`
<form method="post"><input type="hidden" name="form" value="groups">
<fieldset><legend>${text.question}</legend>${choices}</fieldset>
<button>${text.save}</button></form>
<section><h2>${text.noneTitle}</h2>
<p class="quiet">${text.noneAbout(email)}</p>
<form method="post"><input type="hidden" name="form" value="none"><button class="plain">${text.none}</button></form></section>`;
  const nothing = html`
<p>${text.getsNothing(email)}</p>
<form method="post"><input type="hidden" name="form" value="back"><button>${text.back}</button></form>`;
  return page(
    reply,
    text.title,
    html`${sender === '' ? '' : html`<p class="from">${sender}</p>`}
<h1>${text.title}</h1>
${notice === '' ? '' : html`<p class="notice" role="status">${notice}</p>`}
${unsubscribed.has(0) ? nothing : html`<p class="quiet">${text.forAddress(email)}</p>${some}`}`,
    words.language,
  );
}
