/** Contact types, which are lists of contacts: adding, renaming, and deleting them with all their contacts. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { pageRoute } from '../../../http/pages/layout.ts';
import { LinkButton } from '../../../ui/components/button.tsx';
import { Confirm } from '../../../ui/components/confirm.tsx';
import { form, SentForm } from '../../../ui/components/form.tsx';
import { Card, Empty } from '../../../ui/components/surface.tsx';
import { NamedLink, Table } from '../../../ui/components/table.tsx';
import { ask, attempt, problemsAt } from '../../../ui/operations.ts';
import { recordScreens, type Submitted } from '../../../ui/record-screens.ts';
import { backTo, sendSettings } from '../../../ui/settings/frame.tsx';
import { requireEditor, viewerOf } from '../../../ui/signed-in.ts';
import { useLanguage } from '../../../ui/words/index.ts';
import { type ContactTypeUses, countUsesOfContactType, listFeedsUsing, type UsingFeed } from '../../uses/operations.ts';
import { CampaignsUsing } from '../../uses/screens/campaigns.tsx';
import { FeedsUsing } from '../../uses/screens/feeds.tsx';
import {
  addContactType,
  type ContactType,
  deleteContactType,
  type ListedContactType,
  listContactTypes,
  readContactType,
  renameContactType,
} from '../operations.ts';

const PATH = '/settings/lists';
const NAME_FORM = form(addContactType.input, [{ name: 'name', label: 'lists.name' }]);

/** Registers the pages of contact types. */
export async function typeScreens(app: FastifyInstance): Promise<void> {
  const showAll = async (request: FastifyRequest, reply: FastifyReply, shown: Submitted = {}) => {
    const types = await ask(request, listContactTypes, {});
    const canChange = viewerOf(request).role !== 'viewer';
    return sendSettings(request, reply, 'lists', <Types {...{ types, canChange, shown }} />);
  };

  pageRoute(app, PATH, (request, reply) => showAll(request, reply));

  recordScreens(app, {
    path: PATH,
    addsInList: true,
    form: NAME_FORM,
    add: (request, values) => attempt(request, addContactType, values),
    change: (request, values, id) => attempt(request, renameContactType, { ...values, id }),
    remove: (request, id) => attempt(request, deleteContactType, { contact_type_id: id }),
    async show(request, reply, id, shown) {
      if (id === null) return showAll(request, reply, shown);
      requireEditor(request);
      const type = await ask(request, readContactType, { contact_type_id: id });
      const { uses } = await ask(request, countUsesOfContactType, { contact_type_id: id });
      const feeds = await ask(request, listFeedsUsing, { kind: 'list', id });
      return sendSettings(request, reply, 'lists', <OneType {...{ type, uses, feeds, shown }} />);
    },
    done: (reply, done) => backTo(reply, 'lists', `settings.done.type${done}`),
  });
}

function Types({
  types,
  canChange,
  shown,
}: {
  types: readonly ListedContactType[];
  canChange: boolean;
  shown: Submitted;
}) {
  const language = useLanguage();
  return (
    <>
      {types.length === 0 ? (
        <Empty title={language.say('lists.none.title')}>{language.say('lists.none.text')}</Empty>
      ) : (
        <Table
          caption={language.say('settings.lists')}
          rows={types}
          keyOf={({ id }) => id}
          columns={[
            {
              heading: language.say('contacts.type'),
              cell: ({ id, name }) =>
                canChange ? <NamedLink href={`${PATH}/${id}`} name={name} /> : <bdi>{name}</bdi>,
            },
            {
              heading: language.say('segments.people'),
              isNumber: true,
              cell: ({ id, contacts_count: count }) => (
                <a href={`/contacts?contact_type_id=${id}`}>{language.number(count)}</a>
              ),
            },
          ]}
        />
      )}
      {canChange && (
        <Card title={language.say('lists.add')}>
          <p class="quiet-text">{language.say('lists.about')}</p>
          <SentForm
            form={NAME_FORM}
            action={PATH}
            values={{}}
            {...shown}
            problems={problemsAt(shown, 'name')}
            submit={language.say('lists.add')}
          />
        </Card>
      )}
    </>
  );
}

function OneType({
  type,
  uses,
  feeds,
  shown,
}: {
  type: ContactType;
  uses: ContactTypeUses;
  feeds: readonly UsingFeed[];
  shown: Submitted;
}) {
  const language = useLanguage();
  return (
    <>
      <Card title={type.name}>
        <SentForm
          form={NAME_FORM}
          action={`${PATH}/${type.id}`}
          values={type}
          {...shown}
          problems={problemsAt(shown, 'name')}
          submit={language.say('lists.rename')}
        />
      </Card>
      <div class="buttons below">
        <Confirm
          id="delete-type"
          action={`${PATH}/${type.id}/delete`}
          label={language.say('lists.delete', { count: uses.people })}
          title={language.say('lists.delete.title', { name: type.name })}
        >
          <p>{language.say('lists.delete.people', { count: uses.people })}</p>
          {uses.segments > 0 && <p>{language.say('lists.delete.segments', { count: uses.segments })}</p>}
          <CampaignsUsing kind="list" uses={uses} />
          <FeedsUsing kind="list" feeds={feeds} />
        </Confirm>
        <LinkButton look="quiet" href={PATH} label={language.say('confirm.cancel')} />
      </div>
    </>
  );
}
