/** Whether anybody can read a mailing in the public archive, and the forms that put it in and take it out. */
import type { FastifyInstance } from 'fastify';
import { type ArchivedMail, changeArchivedMail } from '../../archive/operations.ts';
import { Button } from '../../dashboard/components/button.tsx';
import { Confirm } from '../../dashboard/components/confirm.tsx';
import { Card } from '../../dashboard/components/surface.tsx';
import { setFlash } from '../../dashboard/flash.ts';
import { attempt, sentenceOf } from '../../dashboard/operations.ts';
import { useLanguage } from '../../dashboard/words/index.ts';

const SEE_OTHER = 303;

/** Registers the forms that put a mailing into the archive and take it out. */
export async function archiveActions(app: FastifyInstance): Promise<void> {
  for (const [action, is_archived, done] of [
    ['archive', 1, 'archive.done.added'],
    ['unarchive', 0, 'archive.done.removed'],
  ] as const)
    app.post<{ Params: { utr: string } }>(`/mailings/:utr/${action}`, async (request, reply) => {
      const { utr } = request.params;
      const changed = await attempt(request, changeArchivedMail, { utr, is_archived });
      if ('problems' in changed) setFlash(reply, 'bad', 'mailings.refused', { reason: sentenceOf(changed) });
      else setFlash(reply, 'good', done);
      return reply.redirect(`/mailings/${encodeURIComponent(utr)}`, SEE_OTHER);
    });
}

/** The card with its state; `mayChange` adds the button. */
export function ArchiveCard({ utr, archived, mayChange }: { utr: string; archived: ArchivedMail; mayChange: boolean }) {
  const language = useLanguage();
  const { is_archived: isArchived, url } = archived;
  return (
    <Card title={language.say('archive.mail')}>
      <p>
        {language.say(isArchived === 0 ? 'archive.mail.off' : url === null ? 'archive.mail.waits' : 'archive.mail.on')}{' '}
        {url !== null && <a href={url}>{url}</a>}
      </p>
      {mayChange && isArchived === 0 && (
        <form method="post" action={`/mailings/${utr}/archive`}>
          <Button look="plain">{language.say('archive.mail.add')}</Button>
        </form>
      )}
      {mayChange && isArchived === 1 && (
        <div>
          <Confirm
            id="unarchive"
            action={`/mailings/${utr}/unarchive`}
            label={language.say('archive.mail.remove')}
            title={language.say('archive.mail.remove.title')}
          >
            <p>{language.say('archive.mail.remove.text')}</p>
          </Confirm>
        </div>
      )}
    </Card>
  );
}
