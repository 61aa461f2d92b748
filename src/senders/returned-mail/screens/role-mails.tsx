/** The part of the settings page for returned mail that shows the kept mails to role addresses, such as postmaster. */
import type { FastifyInstance } from 'fastify';
import type { ById } from '../../../http/pages/layout.ts';
import { Button } from '../../../ui/components/button.tsx';
import { Time } from '../../../ui/components/figures.tsx';
import { Card } from '../../../ui/components/surface.tsx';
import { ask } from '../../../ui/operations.ts';
import { recordTime } from '../../../ui/record-time.ts';
import { backTo } from '../../../ui/settings/frame.tsx';
import { useLanguage } from '../../../ui/words/index.ts';
import { deleteRoleMail, type RoleMails } from '../operations.ts';

/** Registers the action that deletes a kept mail. */
export async function roleMailDeletion(app: FastifyInstance): Promise<void> {
  app.post<ById>('/settings/returns/mails/:id/delete', async (request, reply) => {
    await ask(request, deleteRoleMail, request.params);
    return backTo(reply, 'returns', 'settings.done.roleMailDeleted');
  });
}

/** The role addresses to register with providers, and the kept mails, each with a delete button. */
export function RoleMailsCard({ roleMails: { addresses, mails }, now }: { roleMails: RoleMails; now: Date }) {
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
            <Button look="plain" label={language.say('roleMails.delete')} />
          </form>
        </details>
      ))}
    </Card>
  );
}
