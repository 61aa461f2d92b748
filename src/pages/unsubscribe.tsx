/**
 * One-click unsubscribes from mail clients (RFC 8058), and the preference page. A GET changes nothing, because mail scanners open links.
 */
import type { FastifyInstance, FastifyReply } from 'fastify';
import { Fragment } from 'preact';
import type { Choice } from '../delivery/feedback/preference-choice.ts';
import { Failure } from '../errors/failure.ts';
import { page } from '../http/pages/document.tsx';
import { messagePage, pageRoute, unknownLink } from '../http/pages/layout.ts';
import { chooseWords, type PageWords } from '../http/pages/words/index.ts';
import { type FormBody, MALFORMED, textList } from '../http/requests/form-fields.ts';
import { MAX_GROUPS, type Preferences } from './preferences.ts';
import type { RecipientSource } from './recipient-source.ts';

interface Link {
  Params: { token: string };
  Body: FormBody | undefined;
}

/** Registers the preference page and one-click unsubscribing. */
export async function unsubscribePage(app: FastifyInstance, source: RecipientSource): Promise<void> {
  pageRoute(app, '/u/shared', (_request, reply) => messagePage(reply, 'sharedCopy'));

  pageRoute<Link>(app, '/u/:token', async (request, reply) => {
    const { token } = request.params;
    const ids = await source.readLink('unsubscribe', token);
    if (ids === null) return unknownLink(reply);
    const preferences = await source.readPreferences(ids, token);
    return show(reply, chooseWords(reply, preferences.languages), preferences, '');
  });

  app.post<Link>('/u/:token', async (request, reply) => {
    const { token } = request.params;
    const ids = await source.readLink('unsubscribe', token);
    if (ids === null) return unknownLink(reply);
    const chosen = readChoice(request.body);
    const before = await source.readPreferences(ids, token);
    const words = chooseWords(reply, before.languages);
    const choice = { ...chosen, text: words.preferences.trackingText };
    // The page confirms the choice only after it is stored.
    const after = await source.keepChoice(ids, token, before, choice);
    return show(reply, words, after, noticeOf(before, choice, words.preferences));
  });
}

/** Reads the choice in a request. Throws 422 if it does not match the page's form. */
function readChoice(body: FormBody = Object.create(null)): Omit<Choice, 'text'> {
  const { form = null } = body;
  const faulty = new Failure(422, 'That is not a form of this page');
  if (MALFORMED in body || !isForm(form)) throw faulty;
  const listed = (name: string) => {
    const ids = textList(body[name]);
    if (ids === null) throw faulty;
    // Only groups on the page can be meant, and a page shows at most MAX_GROUPS.
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

/** The page's confirmation of a stored choice. */
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
  const { email, sender, unsubscribed, tracking } = preferences;
  const text = words.preferences;
  return page(
    reply,
    text.title,
    <>
      {sender !== '' && <p class="from">{sender}</p>}
      <h1>{text.title}</h1>
      {notice !== '' && (
        <p class="notice" role="status">
          {notice}
        </p>
      )}
      {unsubscribed.has(0) ? (
        <>
          <p>{text.getsNothing(email)}</p>
          <Choose form="back" label={text.back} />
        </>
      ) : (
        <>
          <p class="quiet">{text.forAddress(email)}</p>
          <Groups text={text} preferences={preferences} />
          <section>
            <h2>{text.noneTitle}</h2>
            <p class="quiet">{text.noneAbout(email)}</p>
            <Choose form="none" label={text.none} isPlain />
          </section>
        </>
      )}
      {tracking !== null && (
        <section>
          <h2>{text.trackingTitle}</h2>
          <p class="quiet">{text.trackingText}</p>
          <p class="quiet">{tracking ? text.trackingOn : text.trackingOff}</p>
          <Choose
            form={tracking ? 'untrack' : 'track'}
            label={tracking ? text.trackingRefuse : text.trackingAllow}
            isPlain
          />
        </section>
      )}
    </>,
    words.language,
    preferences.brand,
  );
}

/** A button that makes a choice at once. */
function Choose({ form, label, isPlain }: { form: NonNullable<Choice['form']>; label: string; isPlain?: boolean }) {
  return (
    <form method="post">
      <input type="hidden" name="form" value={form} />
      <button type="submit" class={isPlain ? 'plain' : undefined}>
        {label}
      </button>
    </form>
  );
}

function Groups({ text, preferences }: { text: PageWords['preferences']; preferences: Preferences }) {
  const { groups, own, unsubscribed, isCurrent } = preferences;
  if (groups.length === 0) return null;
  return (
    <form method="post">
      {/* If earlier unsubscribes are unknown, groups that stay checked must not be changed. */}
      <input type="hidden" name="form" value={isCurrent ? 'groups' : 'leave'} />
      <fieldset>
        <legend>{text.question}</legend>
        {groups.map(({ id, group_name, description }) => (
          <Fragment key={id}>
            <label class="choice">
              <input type="checkbox" name="on" value={id} checked={!unsubscribed.has(id)} />
              <span>
                {group_name}
                {id === own && <small>{text.own}</small>}
                {description !== '' && description !== group_name && <small>{description}</small>}
              </span>
            </label>
            <input type="hidden" name="shown" value={id} />
          </Fragment>
        ))}
      </fieldset>
      <button type="submit">{text.save}</button>
    </form>
  );
}
