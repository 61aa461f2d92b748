/** The addresses for feedback loops, abuse and postmaster, and the mail to them that an operator has to read. */
import type { FastifyInstance } from 'fastify';
import { Button } from '../../dashboard/components/button.tsx';
import { Time } from '../../dashboard/components/figures.tsx';
import { Card } from '../../dashboard/components/surface.tsx';
import { ask } from '../../dashboard/operations.ts';
import { recordTime } from '../../dashboard/record-time.ts';
import { backTo } from '../../dashboard/screens/settings/frame.tsx';
import { useLanguage } from '../../dashboard/words/index.ts';
import { deleteRoleMail, type RoleMails } from '../operations.ts';

/** Registers the deletion of a mail. */
export async function roleMailDeletion(app: FastifyInstance): Promise<void> {
  app.post<{ Params: { id: string } }>('/settings/returns/mails/:id/delete', async (request, reply) => {
    await ask(request, deleteRoleMail, request.params);
    return backTo(reply, 'returns', 'settings.done.roleMailDeleted');
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
