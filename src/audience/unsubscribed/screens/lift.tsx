/** Removes an address from a list, after a page that explains what this means for the contact. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { notFound } from '../../../errors/failure.ts';
import { pageRoute } from '../../../http/pages/layout.ts';
import { Button, LinkButton } from '../../../ui/components/button.tsx';
import { CheckField } from '../../../ui/components/field.tsx';
import { Card, Notice } from '../../../ui/components/surface.tsx';
import { setFlash } from '../../../ui/flash.ts';
import { languageOf, sendPage } from '../../../ui/page.tsx';
import { requireEditor, viewerOf } from '../../../ui/signed-in.ts';
import { useLanguage } from '../../../ui/words/index.ts';
import { type Entry, LIST_NAMES, type ListName, pageOf, readEntries, removeEntry } from './kinds.tsx';

interface LiftQuery {
  list?: string;
  email?: string;
  group?: string;
  /** The contact whose page the link back leads to. */
  contact?: string;
}

/** Registers the page that asks before an address gets mail again. */
export async function liftScreen(app: FastifyInstance): Promise<void> {
  pageRoute<{ Querystring: LiftQuery }>(app, '/unsubscribes/lift', async (request, reply) =>
    show(request, reply, await findEntry(request)),
  );

  app.post<{ Querystring: LiftQuery }>('/unsubscribes/lift', async (request, reply) => {
    const listed = await findEntry(request);
    const { name, entry, back } = listed;
    const isConfirmed = Object(request.body).asked === '1';
    if (entry.kind === 'complaint' && !isConfirmed) return show(request, reply.code(422), listed, true);
    await removeEntry(request, name, entry.id);
    setFlash(reply, 'good', 'unsubscribes.lifted', { email: entry.email_address });
    return reply.redirect(back, 303);
  });

  /**
   * Returns the entry of an editor's request, and the list to go back to. Throws 403 for other users, and 404 if there is no such entry.
   */
  async function findEntry(request: FastifyRequest<{ Querystring: LiftQuery }>) {
    requireEditor(request);
    const { list, email = '', group, contact } = request.query;
    const name = LIST_NAMES.find((known) => known === list);
    if (name === undefined || email === '') throw notFound();
    const [entry] = await readEntries(request, name, { limit: 1, email, groupId: group });
    if (entry === undefined) throw notFound();
    const isFromContact = contact !== undefined && /^\d{1,16}$/.test(contact);
    return { name, entry, back: isFromContact ? `/contacts/${contact}` : pageOf(name, group) };
  }
}

/** Shows what lifting an entry means. `isUnconfirmed`: the box that a complaint needs was not ticked. */
async function show(
  request: FastifyRequest,
  reply: FastifyReply,
  { name, entry, back }: { name: ListName; entry: Entry; back: string },
  isUnconfirmed = false,
) {
  const viewer = viewerOf(request);
  const title = languageOf(request, viewer).say(`unsubscribes.lift.${name}.title`);
  const email = entry.email_address;
  const others = (['all', 'suppressions'] as const).filter((other) => other !== name);
  const entries = await Promise.all(others.map((other) => readEntries(request, other, { limit: 1, email })));
  const remaining = others.filter((_, at) => entries[at]?.length === 1);
  const isComplaint = entry.kind === 'complaint';
  const content = <Confirmation {...{ name, email, back, remaining, isComplaint, isUnconfirmed }} />;
  return sendPage(request, reply, viewer, { title, section: 'unsubscribes' }, content);
}

/** `remaining`: the other lists on which the address remains, so that it still gets no mail. */
function Confirmation({
  name,
  email,
  back,
  remaining,
  isComplaint,
  isUnconfirmed,
}: {
  name: ListName;
  email: string;
  back: string;
  remaining: readonly ('all' | 'suppressions')[];
  isComplaint: boolean;
  isUnconfirmed: boolean;
}) {
  const language = useLanguage();
  return (
    <Card>
      <p>
        <b>
          <bdi>{email}</bdi>
        </b>
      </p>
      <p>{language.say(`unsubscribes.lift.${name}.means`)}</p>
      <p>{language.say(`unsubscribes.lift.${name}.not`)}</p>
      {remaining.map((other) => (
        <Notice key={other} tone="warn">
          {language.say(`unsubscribes.lift.stays.${other}`)}
        </Notice>
      ))}
      <p>{language.say(`unsubscribes.lift.${name}.text`)}</p>
      <form method="post">
        {isComplaint && (
          <>
            <Notice tone="bad" isNews={isUnconfirmed}>
              {language.say('unsubscribes.lift.complaint')}
            </Notice>
            <CheckField name="asked" label={language.say('unsubscribes.lift.asked')} required />
          </>
        )}
        <div class="buttons">
          <Button look="danger" label={language.say(`unsubscribes.lift.${name}.do`)} />
          <LinkButton look="plain" href={back} label={language.say('unsubscribes.lift.cancel')} />
        </div>
      </form>
    </Card>
  );
}
