/** The DKIM keys of a domain, with the records to publish. Owners create the first key; operators create and delete others. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ById } from '../../http/pages/layout.ts';
import { Button } from '../../ui/components/button.tsx';
import { Confirm } from '../../ui/components/confirm.tsx';
import { Badge } from '../../ui/components/surface.tsx';
import { setFlash } from '../../ui/flash.ts';
import { attempt, type Refusal } from '../../ui/operations.ts';
import { recordTime } from '../../ui/record-time.ts';
import { field } from '../../ui/submitted.ts';
import { useLanguage } from '../../ui/words/index.ts';
import type { CheckedDomain, DkimKey } from '../operations/checks.ts';
import { deleteDkimKey, makeDkimKey, rotateDkimKey } from '../operations/dkim.ts';
import { RecordToCopy } from './record-to-copy.tsx';
import { watchPath } from './watch-domain.ts';

const TONES = { signing: 'good', waiting: 'busy', former: 'plain' } as const;

/** Sends the page of the senders with a message about a failed action. */
type Show = (request: FastifyRequest, reply: FastifyReply, problem: string) => Promise<unknown>;

/** Registers the forms of the keys. */
export function keyForms(app: FastifyInstance, show: Show): void {
  for (const [action, operation] of [
    ['create', makeDkimKey],
    ['rotate', rotateDkimKey],
  ] as const) {
    app.post(`/settings/senders/dkim/${action}`, async (request, reply) => {
      const domain = field(request, 'domain');
      const outcome = await attempt(request, operation, { domain });
      if ('problems' in outcome) return showRefusal(request, reply, outcome);
      setFlash(reply, 'good', `dkim.done.${action}`, { domain });
      return reply.redirect(watchPath(domain, app.deps.clock.now()), 303);
    });
  }

  app.post<ById>('/settings/senders/dkim/:id/delete', async (request, reply) => {
    const deleted = await attempt(request, deleteDkimKey, request.params);
    if ('problems' in deleted) return showRefusal(request, reply, deleted);
    setFlash(reply, 'good', 'dkim.done.deleted');
    return reply.redirect('/settings/senders', 303);
  });

  const showRefusal = (request: FastifyRequest, reply: FastifyReply, refusal: Refusal) =>
    show(request, reply.code(refusal.status), refusal.text);
}

/** The keys of a domain. */
export function Keys({ domain, isOperator }: { domain: CheckedDomain; isOperator: boolean }) {
  const language = useLanguage();
  if (domain.dkim.length === 0) return <FirstKey domain={domain} />;
  const isOnly = domain.dkim.length === 1;
  return (
    <>
      {domain.dkim.map((key) => (
        <Key key={key.id} dkimKey={key} domain={domain} isOnly={isOnly} isOperator={isOperator} />
      ))}
      {!isOperator && <p class="quiet-text small">{language.say('dkim.operators')}</p>}
    </>
  );
}

function FirstKey({ domain: { domain, may_sign: maySign } }: { domain: CheckedDomain }) {
  const language = useLanguage();
  return (
    <>
      <p>{language.say('domains.unsigned')}</p>
      {maySign === 1 ? (
        <form method="post" action="/settings/senders/dkim/create">
          <input type="hidden" name="domain" value={domain} />
          <Button look="plain" icon="plus" label={language.say('dkim.create')} />
        </form>
      ) : (
        <p class="quiet-text">{language.say('dkim.verifyFirst', { domain })}</p>
      )}
    </>
  );
}

function Key({
  dkimKey,
  domain: { domain, dkim },
  isOnly,
  isOperator,
}: {
  dkimKey: DkimKey;
  domain: CheckedDomain;
  isOnly: boolean;
  isOperator: boolean;
}) {
  const language = useLanguage();
  const { id, name, value, state } = dkimKey;
  const createdAt = recordTime(dkimKey.created_at);
  const remaining = dkim.length === 1 ? 'none' : 'another';
  const effect = state === 'signing' ? remaining : 'unused';
  const canRotate = isOperator && state === 'signing' && dkim.every((other) => other.state !== 'waiting');
  return (
    <div class="dkim-key">
      <div id={`dkim-key-${id}`} class="dns-live">
        {!isOnly && <Badge tone={TONES[state]}>{language.say(`dkim.${state}`)}</Badge>}{' '}
        {dkimKey.is_published === 0 && state !== 'former' && <p>{language.say('domains.publish')}</p>}
        {state === 'waiting' && <p class="quiet-text">{language.say('dkim.waiting.text')}</p>}
        {state === 'former' && <p class="quiet-text">{language.say('dkim.former.text')}</p>}
      </div>
      <RecordToCopy name={name} value={value} />
      <div class="buttons">
        {canRotate && <NextKey domain={domain} id={`rotate-${id}`} />}
        {isOperator && (
          <Confirm
            id={`delete-key-${id}`}
            action={`/settings/senders/dkim/${id}/delete`}
            label={language.say('dkim.delete')}
            title={language.say('dkim.delete.title', { name })}
          >
            <p>{language.say(`dkim.delete.${effect}`, { domain })}</p>
            {state !== 'waiting' && <p>{language.say('dkim.delete.record')}</p>}
          </Confirm>
        )}
        {createdAt !== null && (
          <span class="quiet-text small">{language.say('dkim.made', { day: language.date(createdAt) })}</span>
        )}
      </div>
    </div>
  );
}

function NextKey({ domain, id }: { domain: string; id: string }) {
  const language = useLanguage();
  return (
    <Confirm
      id={id}
      action="/settings/senders/dkim/rotate"
      label={language.say('dkim.rotate')}
      look="plain"
      title={language.say('dkim.rotate.title', { domain })}
    >
      <input type="hidden" name="domain" value={domain} />
      <p>{language.say('dkim.rotate.text')}</p>
    </Confirm>
  );
}
