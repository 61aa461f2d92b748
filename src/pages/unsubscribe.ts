/** Leaving: one click from the mail program (RFC 8058), and the preference page. A GET changes nothing: scanners click (trust 20). */
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { RecipientIds } from '../delivery/tokens.ts';
import type { Deps } from '../deps.ts';
import { html } from './html.ts';
import { page, READ, unknownLink } from './layout.ts';
import { PreferenceBook, type Preferences } from './preferences.ts';

interface Link {
  Params: { token: string };
  Body: Record<string, unknown> | undefined;
}

export async function unsubscribePage(app: FastifyInstance, { db, clock, tokens }: Deps): Promise<void> {
  const book = new PreferenceBook(db, clock);
  const idsOf = (token: string) => tokens.readRecipient('unsubscribe', token);

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

  app.post<Link>('/u/:token', (request, reply) => {
    const ids = idsOf(request.params.token);
    if (ids === null) return unknownLink(reply);
    const before = book.read(ids);
    const body = request.body ?? {};
    const listed = (name: string) => new Set([body[name] ?? []].flat().map(Number));
    const notice = act(ids, before);
    return show(reply, book.read(ids), notice);

    function act(ids: RecipientIds, before: Preferences): string {
      switch (body.form) {
        case 'groups':
          book.choose(ids, before, listed('shown'), listed('on'));
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
  });
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
