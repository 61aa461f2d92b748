/**
 * The preference page, and one-click unsubscribing by mail clients (RFC 8058). A GET changes nothing, because mail scanners open
 * links.
 */
import type { FastifyInstance, FastifyReply } from 'fastify';
import { Fragment } from 'preact';
import type { Choice } from '../delivery/feedback/preference-choice.ts';
import { Failure } from '../errors/failure.ts';
import { sendPublicPage } from '../http/pages/document.tsx';
import { messagePage, pageRoute, unknownLink } from '../http/pages/layout.ts';
import { chooseWords, type PageWords } from '../http/pages/words/index.ts';
import { type FormBody, MALFORMED, textList } from '../http/requests/form-fields.ts';
import type { Clock } from '../time/clock.ts';
import { HOUR_MS } from '../units.ts';
import { FloodLimit } from './flood-limit.ts';
import { MAX_GROUPS, type Preferences } from './preferences.ts';
import type { RecipientSource } from './recipient-source.ts';

interface ByToken {
  Params: { token: string };
  Body: FormBody | undefined;
}

/**
 * How often a recipient can subscribe to something again or allow recording in an hour. Each change is written to the consent log for good,
 * so whoever has the link could fill the disk by unsubscribing and subscribing in turn.
 */
const MAX_SUBSCRIBING = 30;

/** Registers the preference page and one-click unsubscribing. */
export async function unsubscribePage(app: FastifyInstance, source: RecipientSource, clock: Clock): Promise<void> {
  const subscribingLimit = new FloodLimit(clock, { most: MAX_SUBSCRIBING, windowMs: HOUR_MS });

  pageRoute(app, '/u/shared', (_request, reply) => messagePage(reply, 'sharedCopy'));

  pageRoute<ByToken>(app, '/u/:token', async (request, reply) => {
    const { token } = request.params;
    const ids = await source.readLink('unsubscribe', token);
    if (ids === null) return unknownLink(reply);
    const preferences = await source.readPreferences(ids, token);
    return sendPreferences(reply, chooseWords(reply, preferences.languages), preferences, '');
  });

  app.post<ByToken>('/u/:token', async (request, reply) => {
    const { token } = request.params;
    const ids = await source.readLink('unsubscribe', token);
    if (ids === null) return unknownLink(reply);
    const chosen = readChoice(request.body);
    const isTooOften = SUBSCRIBING.includes(chosen.form) && subscribingLimit.count(String(ids.address)) === 'too many';
    const before = await source.readPreferences(ids, token);
    const words = chooseWords(reply, before.languages);
    const choice = { ...chosen, text: words.preferences.trackingText };
    if (isTooOften) {
      // Unsubscribing is never refused, so what was unchecked is left nevertheless.
      const leaving = chosen.form === 'groups' ? { ...choice, form: 'leave' as const } : null;
      const after = leaving === null ? before : await source.keepChoice(ids, token, before, leaving);
      reply.code(429).header('retry-after', HOUR_MS / 1000);
      return sendPreferences(reply, words, after, words.preferences.tooOften);
    }
    // The page confirms a choice only after the choice is stored.
    const after = await source.keepChoice(ids, token, before, choice);
    return sendPreferences(reply, words, after, noticeOf(before, choice, words.preferences));
  });
}

/** Reads the choice in a request. Throws 422 if the body does not come from a form of the page. */
function readChoice(body: FormBody = Object.create(null)): Omit<Choice, 'text'> {
  const { form = null } = body;
  const failure = new Failure(422, 'That is not a form of this page');
  if (MALFORMED in body || !isForm(form)) throw failure;
  const listed = (name: string) => {
    const ids = textList(body[name]);
    if (ids === null) throw failure;
    // A page shows at most MAX_GROUPS groups, so further ids do not come from the page.
    return [...new Set(ids.map(Number))].filter((id) => Number.isSafeInteger(id) && id > 0).slice(0, MAX_GROUPS);
  };
  return { form, shown: listed('shown'), checked: listed('on') };
}

/** The forms of the page; null stands for a one-click request. */
const FORMS: readonly unknown[] = [
  'groups',
  'leave',
  'none',
  'back',
  'track',
  'untrack',
  null,
] satisfies Choice['form'][];

/** The forms with which a recipient can subscribe to something again or allow recording. All others only unsubscribe or refuse. */
const SUBSCRIBING: readonly Choice['form'][] = ['groups', 'back', 'track'];

function isForm(form: unknown): form is Choice['form'] {
  return FORMS.includes(form);
}

/** Returns the text with which the page confirms a stored choice; empty if nothing was stored. */
function noticeOf(before: Preferences, { form }: Choice, words: PageWords['preferences']): string {
  switch (form) {
    case 'groups':
    case 'leave':
      return words.saved;
    case 'none':
      return words.unsubscribedAll;
    case 'back':
      return words.subscribedAgain;
    case 'track':
      return before.tracking === null ? '' : words.trackingAllowed;
    case 'untrack':
      return before.tracking === null ? '' : words.trackingRefused;
    default:
      return unsubscribedNotice(before, words);
  }
}

function unsubscribedNotice({ groups, own }: Preferences, words: PageWords['preferences']): string {
  const group = groups.find(({ id }) => id === own);
  return group === undefined ? words.unsubscribed : words.unsubscribedGroup(group.group_name);
}

function sendPreferences(
  reply: FastifyReply,
  words: PageWords,
  preferences: Preferences,
  notice: string,
): FastifyReply {
  const { email, sender, unsubscribed, tracking } = preferences;
  const text = words.preferences;
  return sendPublicPage(
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
          <ChoiceButton form="back" label={text.back} />
        </>
      ) : (
        <>
          <p class="quiet">{text.forAddress(email)}</p>
          <Groups text={text} preferences={preferences} />
          <section>
            <h2>{text.noneTitle}</h2>
            <p class="quiet">{text.noneAbout(email)}</p>
            <ChoiceButton form="none" label={text.none} isPlain />
          </section>
        </>
      )}
      {tracking !== null && (
        <section>
          <h2>{text.trackingTitle}</h2>
          <p class="quiet">{text.trackingText}</p>
          <p class="quiet">{tracking ? text.trackingOn : text.trackingOff}</p>
          <ChoiceButton
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
function ChoiceButton({
  form,
  label,
  isPlain,
}: {
  form: NonNullable<Choice['form']>;
  label: string;
  isPlain?: boolean;
}) {
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
      {/* The form `leave` does not change the groups that stay checked. It is used if the earlier unsubscribes are unknown. */}
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
