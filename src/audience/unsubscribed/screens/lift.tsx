/** Takes an address off a list, after a page that says what this means for the person. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Button, LinkButton } from '../../../dashboard/components/button.tsx';
import { Card, Notice } from '../../../dashboard/components/surface.tsx';
import { setFlash } from '../../../dashboard/flash.ts';
import { languageOf, sendPage } from '../../../dashboard/page.tsx';
import { requireEditor, viewerOf } from '../../../dashboard/signed-in.ts';
import { useLanguage } from '../../../dashboard/words/index.ts';
import { notFound } from '../../../errors/failure.ts';
import { READ } from '../../../http/pages/layout.ts';
import { LIST_NAMES, type ListName, pageOf, readEntries, removeEntry } from './kinds.tsx';

interface LiftQuery {
  list?: string;
  email?: string;
  group?: string;
}

export async function liftScreen(app: FastifyInstance): Promise<void> {
  app.route<{ Querystring: LiftQuery }>({
    method: READ,
    url: '/unsubscribes/lift',
    handler: async (request, reply) => {
      const viewer = viewerOf(request);
      const { name, entry, back } = await findEntry(request);
      const title = languageOf(request, viewer).say(`unsubscribes.lift.${name}.title`);
      const email = entry.email_address;
      const others = (['all', 'suppressions'] as const).filter((other) => other !== name);
      const found = await Promise.all(others.map((other) => readEntries(request, other, { limit: 1, email })));
      const stays = others.filter((_, at) => found[at]?.length === 1);
      const content = <Confirmation name={name} email={email} back={back} stays={stays} />;
      return sendPage(request, reply, viewer, { title, section: 'unsubscribes' }, content);
    },
  });

  app.post<{ Querystring: LiftQuery }>('/unsubscribes/lift', async (request, reply) => {
    const { name, entry, back } = await findEntry(request);
    await removeEntry(request, name, entry.id);
    setFlash(reply, 'good', 'unsubscribes.lifted', { email: entry.email_address });
    return reply.redirect(back, 303);
  });

  /** The entry that an editor's request is about, and the list to go back to. Throws 403 for others, and 404 where there is none. */
  async function findEntry(request: FastifyRequest<{ Querystring: LiftQuery }>) {
    requireEditor(request);
    const { list, email = '', group } = request.query;
    const name = LIST_NAMES.find((known) => known === list);
    if (name === undefined || email === '') throw notFound();
    const [entry] = await readEntries(request, name, { limit: 1, email, groupId: group });
    if (entry === undefined) throw notFound();
    return { name, entry, back: pageOf(name, group) };
  }
}

/** `stays`: the other lists on which the address remains, because of which it gets no mail. */
function Confirmation({
  name,
  email,
  back,
  stays,
}: {
  name: ListName;
  email: string;
  back: string;
  stays: readonly ('all' | 'suppressions')[];
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
      {stays.map((other) => (
        <Notice key={other} tone="warn">
          {language.say(`unsubscribes.lift.stays.${other}`)}
        </Notice>
      ))}
      <p>{language.say(`unsubscribes.lift.${name}.text`)}</p>
      <form method="post">
        <div class="buttons">
          <Button look="danger">{language.say(`unsubscribes.lift.${name}.do`)}</Button>
          <LinkButton look="plain" href={back}>
            {language.say('unsubscribes.lift.cancel')}
          </LinkButton>
        </div>
      </form>
    </Card>
  );
}
