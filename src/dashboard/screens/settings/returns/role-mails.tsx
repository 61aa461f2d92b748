/** The addresses for feedback loops, abuse and postmaster, and the mail to them that an operator has to read. */
import type { FastifyInstance } from 'fastify';
import type { RoleMailbox } from '../../../../database/schema/index.ts';
import { ApiClient, refusalText } from '../../../api-client.ts';
import { Button } from '../../../components/button.tsx';
import { Time } from '../../../components/figures.tsx';
import { Card } from '../../../components/surface.tsx';
import { setFlash } from '../../../flash.ts';
import { recordTime } from '../../../record-time.ts';
import { useLanguage } from '../../../words/index.ts';
import { backTo } from '../frame.tsx';

const SEE_OTHER = 303;

export interface RoleMails {
  addresses: string[];
  mails: { id: number; mailbox: RoleMailbox; sender: string; subject: string; text: string; created_at: string }[];
}

/** Registers the deletion of a mail. */
export async function roleMailDeletion(app: FastifyInstance): Promise<void> {
  app.post<{ Params: { id: string } }>('/settings/returns/mails/:id/delete', async (request, reply) => {
    const path = `/role-mails/delete?${new URLSearchParams({ id: request.params.id })}`;
    const answer = await new ApiClient(app, request).send('DELETE', path);
    if (answer.message !== undefined) return backTo(reply, 'returns', 'settings.done.roleMailDeleted');
    setFlash(reply, 'bad', 'roleMails.refused', { reason: refusalText(answer) });
    return reply.redirect('/settings/returns', SEE_OTHER);
  });
}

/** The addresses to register, and the kept mails, each with a button to delete it. */
export function RoleMailsCard({ found: { addresses, mails }, now }: { found: RoleMails; now: Date }) {
  const language = useLanguage();
  return (
    <Card title={language.say('roleMails.title')}>
      <p>{language.say(addresses.length === 0 ? 'roleMails.off' : 'roleMails.text')}</p>
      {addresses.length > 0 && (
        <ul class="bullets">
          {addresses.map((address) => (
            <li key={address}>
              <code>{address}</code>
            </li>
          ))}
        </ul>
      )}
      {addresses.length > 0 && mails.length === 0 && <p class="quiet-text">{language.say('roleMails.none')}</p>}
      {mails.length > 0 && <p>{language.say('roleMails.unknown')}</p>}
      {mails.map(({ id, mailbox, sender, subject, text, created_at }) => (
        <details key={id}>
          <summary>
            {subject || language.say('roleMails.noSubject')} <span class="quiet-text">{mailbox}</span>
          </summary>
          <p class="quiet-text">
            {language.say('roleMails.from', { sender })} <Time at={recordTime(created_at)} now={now} />
          </p>
          <pre class="source">{text}</pre>
          <form method="post" action={`/settings/returns/mails/${id}/delete`}>
            <Button look="plain">{language.say('roleMails.delete')}</Button>
          </form>
        </details>
      ))}
    </Card>
  );
}
