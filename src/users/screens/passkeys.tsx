/** The user's own passkeys: their list, and a form that adds a passkey after the user has typed the password again. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { readSession } from '../../http/cookies.ts';
import type { ById } from '../../http/pages/layout.ts';
import type { Deps } from '../../operations/deps.ts';
import { Button, LinkButton } from '../../ui/components/button.tsx';
import { Confirm } from '../../ui/components/confirm.tsx';
import { type Problems, TextField } from '../../ui/components/field.tsx';
import { Time } from '../../ui/components/figures.tsx';
import { Island } from '../../ui/components/island.tsx';
import { Card } from '../../ui/components/surface.tsx';
import { Table } from '../../ui/components/table.tsx';
import { ask } from '../../ui/operations.ts';
import { languageOf } from '../../ui/page.tsx';
import { backTo, sendSettings } from '../../ui/settings/frame.tsx';
import { sessionOf, viewerOf } from '../../ui/signed-in.ts';
import { callerOf, field } from '../../ui/submitted.ts';
import { useLanguage } from '../../ui/words/index.ts';
import { type listOwnPasskeys, removePasskey } from '../operations/passkeys.ts';
import { checkNewPasskey } from '../passkeys/check.ts';
import { addPasskey, passkeysOf } from '../passkeys/passkeys.ts';
import { allowsPasskeys, readPasskeyAnswer, registrationRequest, relyingParty } from '../passkeys/requests.ts';
import { actorOf, type SignIns } from '../sign-in.ts';
import { CurrentPassword, type OwnForms } from './own-forms.tsx';

const MAX_NAME = 60;

type PasskeyRow = Static<typeof listOwnPasskeys.record>;

/** Registers the pages with which users add and remove their passkeys. */
export async function passkeyScreen(
  app: FastifyInstance,
  { db, clock, publicUrl, signIns, own }: Deps & { signIns: SignIns; own: OwnForms },
): Promise<void> {
  app.post('/settings/passkeys/new', async (request, reply) => {
    const party = relyingParty(publicUrl(), request.host);
    if (party === null) return reply.redirect('/settings/account', 303);
    const name = field(request, 'passkey').trim();
    const language = languageOf(request, viewerOf(request));
    const problems: Problems =
      name === '' || name.length > MAX_NAME
        ? { passkey: [language.say('passkeys.name.problem', { count: MAX_NAME })] }
        : await own.confirm(request, 'passkey-password');
    if (Object.keys(problems).length > 0) return own.show(request, reply.code(422), { problems });
    const me = own.requireMe(request);
    const challenge = signIns.challenges.make('registration', browserOf(request));
    const registration = registrationRequest(party, me, passkeysOf(db, me.id), challenge);
    return sendSettings(request, reply, 'account', <MakePasskey name={name} registration={registration} />);
  });

  app.post('/settings/passkeys', async (request, reply) => {
    const party = relyingParty(publicUrl(), request.host);
    const answer = readPasskeyAnswer(field(request, 'answer'));
    const name = field(request, 'name').slice(0, MAX_NAME);
    const isExpected = answer !== null && signIns.challenges.use(answer.challenge, 'registration', browserOf(request));
    const added = party !== null && isExpected ? await checkNewPasskey(answer, party) : null;
    // The session may have ended while the answer was checked, for example because the owner of a stolen password used a login link.
    if (readSession(request, { db, clock }) === null) return reply.redirect('/login', 303);
    const me = own.requireMe(request);
    if (added !== null && addPasskey(db, me, name, added, actorOf(me, callerOf(request)), clock.now()))
      return backTo(reply, 'account', 'settings.done.passkeyAdded');
    const problem = languageOf(request, viewerOf(request)).say('passkeys.refused');
    return own.show(request, reply.code(422), { problem });
  });

  app.post<ById>('/settings/passkeys/:id/remove', async (request, reply) => {
    await ask(request, removePasskey, request.params);
    return backTo(reply, 'account', 'settings.done.passkeyRemoved');
  });
}

/** Returns the text that identifies the browser in a challenge for a new passkey: the id of its session. */
function browserOf(request: FastifyRequest): string {
  return String(sessionOf(request).id);
}

/** The page on which the browser makes the passkey that `registration` requests. */
function MakePasskey({ name, registration }: { name: string; registration: object }) {
  const language = useLanguage();
  return (
    <Card title={language.say('passkeys.make.title')}>
      <p>{language.say('passkeys.make.text')}</p>
      <Island name="passkey-new" data={registration}>
        <form method="post" action="/settings/passkeys">
          <input type="hidden" name="name" value={name} />
          <input type="hidden" name="answer" />
          <div class="field">
            <span class="problem" role="alert" hidden>
              {language.say('passkeys.make.problem')}
            </span>
          </div>
          <div class="buttons">
            {/* The script enables the button, because without the script the form would be submitted without a passkey. */}
            <Button icon="key" disabled label={language.say('passkeys.make.submit')} />
            <LinkButton href="/settings/account" look="plain" label={language.say('confirm.cancel')} />
          </div>
        </form>
      </Island>
    </Card>
  );
}

/** The user's passkeys, with the form for a new passkey, or with the reason why this URL allows no new passkeys. */
export function Passkeys({
  passkeys,
  email,
  address,
  now,
  problems,
}: {
  passkeys: readonly PasskeyRow[];
  email: string;
  /** PUBLIC_URL if passkeys cannot be added at the URL that the browser opened; null if they can be added. */
  address: string | null;
  now: Date;
  problems: Problems | undefined;
}) {
  const language = useLanguage();
  return (
    <Card title={language.say('passkeys.title')}>
      <p class="quiet-text">{language.say('passkeys.text')}</p>
      {passkeys.length > 0 && (
        <Table
          caption={language.say('passkeys.title')}
          rows={passkeys}
          keyOf={({ id }) => id}
          columns={[
            { heading: language.say('passkeys.name'), cell: ({ name }) => name },
            {
              heading: language.say('passkeys.addedAt'),
              cell: ({ created_at: at }) => <Time at={new Date(at)} now={now} />,
            },
            {
              heading: language.say('passkeys.usedAt'),
              cell: ({ last_used_at: at }) =>
                at === null ? language.say('passkeys.never') : <Time at={new Date(at)} now={now} />,
            },
            { heading: language.say('users.actions'), cell: (passkey) => <Remove {...passkey} /> },
          ]}
        />
      )}
      {address === null ? (
        <form method="post" action="/settings/passkeys/new" class="narrow">
          <TextField
            name="passkey"
            label={language.say('passkeys.name')}
            hint={language.say('passkeys.name.hint')}
            maxLength={MAX_NAME}
            autocomplete="off"
            required
            problems={problems}
          />
          <CurrentPassword name="passkey-password" email={email} problems={problems} />
          <Button look="plain" icon="plus" label={language.say('passkeys.add')} />
        </form>
      ) : (
        <p>{language.say(allowsPasskeys(address) ? 'passkeys.elsewhere' : 'passkeys.impossible', { address })}</p>
      )}
    </Card>
  );
}

function Remove({ id, name }: PasskeyRow) {
  const language = useLanguage();
  return (
    <Confirm
      id={`passkey-${id}`}
      action={`/settings/passkeys/${id}/remove`}
      label={language.say('passkeys.remove')}
      title={language.say('passkeys.remove.title', { name })}
    >
      {language.say('passkeys.remove.text')}
    </Confirm>
  );
}
