/** The first unsubscribe group of an account, made on the way, since no mailing leaves without one. */
import type { FastifyInstance } from 'fastify';
import { addGroup } from '../../../audience/unsubscribed/groups.ts';
import { Button } from '../../../dashboard/components/button.tsx';
import { TextField } from '../../../dashboard/components/field.tsx';
import { Card } from '../../../dashboard/components/surface.tsx';
import { setFlash } from '../../../dashboard/flash.ts';
import { attempt, sentenceOf } from '../../../dashboard/operations.ts';
import { field } from '../../../dashboard/sign-in/fields.ts';
import { useLanguage } from '../../../dashboard/words/index.ts';
import { saveDraft } from '../../operations/drafts.ts';
import { stepAddress } from './frame.tsx';

export async function groupForm(app: FastifyInstance): Promise<void> {
  app.post<{ Params: { utr: string } }>('/mailings/:utr/edit/group', async (request, reply) => {
    const { utr } = request.params;
    const group_name = field(request, 'group_name').trim();
    // Recipients read the description on their preference page.
    const group = { group_name, description: group_name, is_display: 1 };
    const added = await attempt(request, addGroup, group);
    const saved =
      'problems' in added ? added : await attempt(request, saveDraft, { utr, unsubscribe_group_id: added.output.id });
    if ('problems' in saved) setFlash(reply, 'bad', 'compose.notSaved', { problem: sentenceOf(saved) });
    return reply.redirect(stepAddress(utr, 'audience'), 303);
  });
}

/** Asks for the name of the first group. */
export function FirstGroup({ utr }: { utr: string }) {
  const language = useLanguage();
  return (
    <Card title={language.say('compose.group')}>
      <p>{language.say('compose.group.none')}</p>
      <form method="post" action={stepAddress(utr, 'group')}>
        <TextField
          name="group_name"
          label={language.say('compose.group.name')}
          hint={language.say('compose.group.name.hint')}
          maxLength={255}
          required
        />
        <Button look="plain">{language.say('compose.group.add')}</Button>
      </form>
    </Card>
  );
}
