/** Unsubscribing with one click in the mail program (RFC 8058), and the preference page. A GET changes nothing, because mail scanners open links. */
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Choice } from '../delivery/feedback/choice.ts';
import { Failure } from '../errors/failure.ts';
import { html } from '../http/pages/html.ts';
import { messagePage, page, READ, unknownLink } from '../http/pages/layout.ts';
import { chooseWords, type PageWords } from '../http/pages/words/index.ts';
import { type FormBody, MALFORMED, textList } from '../http/requests/form-fields.ts';
import { MAX_GROUPS, type Preferences } from './preferences.ts';
import type { RecipientSource } from './recipient-source.ts';

interface Link {
  Params: { token: string };
  Body: FormBody | undefined;
}

export async function unsubscribePage(app: FastifyInstance, source: RecipientSource): Promise<void> {
  app.route({
    method: READ,
    url: '/u/shared',
    handler: (_request, reply) => messagePage(reply, 'sharedCopy'),
  });

  app.route<Link>({
    method: READ,
    url: '/u/:token',
    handler: async (request, reply) => {
      const { token } = request.params;
      const ids = await source.readLink('unsubscribe', token);
      if (ids === null) return unknownLink(reply);
      return show(reply, chooseWords(reply), await source.readPreferences(ids, token), '');
    },
  });

  app.post<Link>('/u/:token', async (request, reply) => {
    const { token } = request.params;
    const ids = await source.readLink('unsubscribe', token);
    if (ids === null) return unknownLink(reply);
    const words = chooseWords(reply);
    const choice = { ...readChoice(request.body), text: words.preferences.trackingText };
    const before = await source.readPreferences(ids, token);
    // The page confirms the choice only after it is kept.
    const after = await source.keepChoice(ids, token, before, choice);
    return show(reply, words, after, noticeOf(before, choice, words.preferences));
  });
}

/** Reads the choice of a request. Throws 422 when it is not a form as the page sends it. */
function readChoice(body: FormBody = Object.create(null)): Omit<Choice, 'text'> {
  const { form = null } = body;
  const faulty = new Failure(422, 'That is not a form of this page');
  if (MALFORMED in body || !isForm(form)) throw faulty;
  const listed = (name: string) => {
    const ids = textList(body[name]);
    if (ids === null) throw faulty;
    // Only what the page shows can be meant, and a page shows no more than MAX_GROUPS.
    return [...new Set(ids.map(Number))].filter((id) => Number.isSafeInteger(id) && id > 0).slice(0, MAX_GROUPS);
  };
  return { form, shown: listed('shown'), checked: listed('on') };
}

const FORMS: readonly unknown[] = [
  'groups',
  'leave',
  'none',
  'back',
  'track',
  'untrack',
  null,
] satisfies Choice['form'][];

function isForm(form: unknown): form is Choice['form'] {
  return FORMS.includes(form);
}

/** What the page says about a choice that is kept. */
function noticeOf(before: Preferences, { form }: Choice, words: PageWords['preferences']): string {
  switch (form) {
    case 'groups':
    case 'leave':
      return words.saved;
    case 'none':
      return words.leftAll;
    case 'back':
      return words.isBack;
    case 'track':
      return before.tracking === null ? '' : words.trackingAllowed;
    case 'untrack':
      return before.tracking === null ? '' : words.trackingRefused;
    default:
      return leftNotice(before, words);
  }
}

function leftNotice({ groups, own }: Preferences, words: PageWords['preferences']): string {
  const group = groups.find(({ id }) => id === own);
  return group === undefined ? words.left : words.leftGroup(group.group_name);
}

function show(reply: FastifyReply, words: PageWords, preferences: Preferences, notice: string): FastifyReply {
  const { email, sender, groups, own, unsubscribed, tracking, isCurrent } = preferences;
  const text = words.preferences;
  const choices = groups.map(
    ({ id, group_name, description }) => html`
<label class="choice"><input type="checkbox" name="on" value="${id}"${unsubscribed.has(id) ? '' : html` checked`}>
<span>${group_name}${id === own ? html` <small>${text.own}</small>` : ''}${description === '' ? '' : html`<small>${description}</small>`}</span></label>
<input type="hidden" name="shown" value="${id}">`,
  );
  // Where it is not known what they left before, groups that stay checked must stay as they are.
  const someForm = html`<form method="post"><input type="hidden" name="form" value="${isCurrent ? 'groups' : 'leave'}">
<fieldset><legend>${text.question}</legend>${choices}</fieldset>
<button>${text.save}</button></form>`;
  const some = html`
${choices.length === 0 ? '' : someForm}
<section><h2>${text.noneTitle}</h2>
<p class="quiet">${text.noneAbout(email)}</p>
<form method="post"><input type="hidden" name="form" value="none"><button class="plain">${text.none}</button></form></section>`;
  const nothing = html`
<p>${text.getsNothing(email)}</p>
<form method="post"><input type="hidden" name="form" value="back"><button>${text.back}</button></form>`;
  const tracked = html`
<section><h2>${text.trackingTitle}</h2>
<p class="quiet">${text.trackingText}</p>
<p class="quiet">${tracking ? text.trackingOn : text.trackingOff}</p>
<form method="post"><input type="hidden" name="form" value="${tracking ? 'untrack' : 'track'}">
<button class="plain">${tracking ? text.trackingRefuse : text.trackingAllow}</button></form></section>`;
  return page(
    reply,
    text.title,
    html`${sender === '' ? '' : html`<p class="from">${sender}</p>`}
<h1>${text.title}</h1>
${notice === '' ? '' : html`<p class="notice" role="status">${notice}</p>`}
${unsubscribed.has(0) ? nothing : html`<p class="quiet">${text.forAddress(email)}</p>${some}`}
${tracking === null ? '' : tracked}`,
    words.language,
  );
}
