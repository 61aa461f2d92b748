/** Signing in with a passkey, without an e-mail address or a password. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { beginVisit, isSecureChannel, visitSecret } from '../../../http/cookies.ts';
import type { Deps } from '../../../operations/deps.ts';
import { Button } from '../../../ui/components/button.tsx';
import { Island } from '../../../ui/components/island.tsx';
import { callerOf, field } from '../../../ui/submitted.ts';
import { useLanguage } from '../../../ui/words/index.ts';
import { relyingParty, signInRequest } from '../../passkeys/requests.ts';
import type { SignInResult, SignIns } from '../../sign-in.ts';
import { nextPage } from './next-page.ts';
import { beginSession, sendInsecureConnection } from './parts.tsx';

type Refused = Exclude<SignInResult, { outcome: 'signed-in' }>;

/** Registers the two requests of signing in with a passkey: for a challenge, and with the browser's answer. */
export async function passkeyPages(
  app: FastifyInstance,
  deps: Deps & {
    signIns: SignIns;
    /** Sends the sign-in page again, with the reason of the refusal. */
    sendRefusal(request: FastifyRequest, reply: FastifyReply, result: Refused, next: string): unknown;
  },
): Promise<void> {
  const { publicUrl, signIns, sendRefusal } = deps;

  app.post('/login/passkey/request', (request, reply) => {
    const party = relyingParty(publicUrl(), request.host);
    if (party === null || !isSecureChannel(request, publicUrl())) return reply.code(404).send({});
    const visit = visitSecret(request) ?? beginVisit(reply, publicUrl());
    return reply.send(signInRequest(party, signIns.challenges.make('sign-in', visit)));
  });

  app.post('/login/passkey', async (request, reply) => {
    if (!isSecureChannel(request, publicUrl())) return sendInsecureConnection(request, reply);
    const next = nextPage(field(request, 'next'));
    const party = relyingParty(publicUrl(), request.host);
    const visit = visitSecret(request);
    if (party === null || visit === null) return sendRefusal(request, reply, { outcome: 'refused' }, next);
    const result = await signIns.withPasskey(field(request, 'answer'), party, visit, callerOf(request));
    if (result.outcome === 'signed-in') return beginSession(request, reply, deps, { ...result, next });
    return sendRefusal(request, reply, result, next);
  });
}

/** The button for passkeys. A script shows the button if the browser supports passkeys, and offers passkeys in the e-mail field too. */
export function PasskeyButton({ next }: { next: string }) {
  const language = useLanguage();
  return (
    <Island name="passkey-sign-in">
      <form method="post" action="/login/passkey" hidden>
        <input type="hidden" name="next" value={next} />
        <input type="hidden" name="answer" />
        <Button look="plain" icon="key" label={language.say('login.passkey')} />
        <div class="field">
          <span class="problem" role="alert" hidden>
            {language.say('login.passkey.none')}
          </span>
        </div>
      </form>
    </Island>
  );
}
