/** The page of the key pairs with which programs call the API. It shows a new pair once, and revokes pairs. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { SCOPES } from '../../database/schema/index.ts';
import type { ById } from '../../http/pages/layout.ts';
import { Confirm } from '../../ui/components/confirm.tsx';
import { CheckField, type Problems } from '../../ui/components/field.tsx';
import { Time } from '../../ui/components/figures.tsx';
import { form, SentForm } from '../../ui/components/form.tsx';
import { Badge, Card, Empty, Notice } from '../../ui/components/surface.tsx';
import { Table } from '../../ui/components/table.tsx';
import { ask, attempt } from '../../ui/operations.ts';
import type { Submitted } from '../../ui/record-screens.ts';
import { backTo, sendSettings } from '../../ui/settings/frame.tsx';
import { useLanguage } from '../../ui/words/index.ts';
import { keyLabel } from '../audit.ts';
import { createKeyPair, listKeys, revokeKeyPair } from '../operations/keys.ts';

type KeyRow = Static<typeof listKeys.record>;
type NewKey = Static<typeof createKeyPair.output>['key'];

const KEY_FORM = form(createKeyPair.input, [
  { name: 'name', label: 'keys.name', hint: 'keys.name.hint' },
  { name: 'scopes', label: 'keys.scopes', control: Scopes },
]);
/** The form proposes only the smallest scope, so that a new pair may do more only if its owner chooses so. */
const PROPOSED = { scopes: SCOPES.slice(0, 1) };

/** Registers the list of key pairs, with the form for a new one. */
export async function keyScreen(app: FastifyInstance): Promise<void> {
  const show = async (request: FastifyRequest, reply: FastifyReply, newKey: NewKey | null, sent: Submitted = {}) => {
    const { status = 200, values = PROPOSED, problems } = sent;
    const keys = await ask(request, listKeys, {});
    const page = <Keys keys={keys} newKey={newKey} values={values} problems={problems} />;
    return sendSettings(request, reply.code(status), 'keys', page, sent.problem);
  };

  app.get('/settings/keys', (request, reply) => show(request, reply, null));

  app.post('/settings/keys', async (request, reply) => {
    const values = KEY_FORM.read(request);
    const created = await attempt(request, createKeyPair, values);
    if ('problems' in created) return show(request, reply, null, { ...created, values });
    return show(request, reply, created.output.key);
  });

  app.post<ById>('/settings/keys/:id/revoke', async (request, reply) => {
    await ask(request, revokeKeyPair, request.params);
    return backTo(reply, 'keys', 'settings.done.revoked');
  });
}

function Keys({
  keys,
  newKey,
  ...fields
}: {
  keys: readonly KeyRow[];
  newKey: NewKey | null;
  values: Readonly<Record<string, unknown>>;
  problems: Problems | undefined;
}) {
  const language = useLanguage();
  return (
    <>
      {newKey && (
        <Notice tone="good" isNews reloads="/settings/keys">
          <p>{language.say('keys.made')}</p>
          <dl>
            <dt>PublicKey</dt>
            <dd>
              <code class="once">{newKey.public_key}</code>
            </dd>
            <dt>SecretKey</dt>
            <dd>
              <code class="once">{newKey.secret_key}</code>
            </dd>
          </dl>
        </Notice>
      )}
      {keys.length === 0 ? (
        <Empty title={language.say('keys.none.title')}>{language.say('keys.none.text')}</Empty>
      ) : (
        <Table
          caption={language.say('settings.keys')}
          rows={keys}
          keyOf={({ id }) => id}
          columns={[
            {
              heading: language.say('keys.name'),
              cell: ({ name, public_key }) => (
                <>
                  <span class="browser">{name || language.say('keys.unnamed')}</span>
                  <code class="quiet-text second-line browser">{public_key}</code>
                </>
              ),
            },
            {
              heading: language.say('keys.scopes'),
              cell: ({ scopes }) => scopes.map((scope) => language.say(`keys.scope.${scope}`)).join(', '),
            },
            { heading: language.say('keys.createdAt'), cell: ({ created_at }) => <Time at={new Date(created_at)} /> },
            {
              heading: language.say('keys.usedAt'),
              cell: ({ last_used_at: used }) =>
                used === null ? language.say('keys.never') : <Time at={new Date(used)} />,
            },
            { heading: language.say('keys.state'), cell: (key) => <State {...key} /> },
          ]}
        />
      )}
      <Card title={language.say('keys.make.title')}>
        <p class="quiet-text">{language.say('keys.make.text')}</p>
        <SentForm
          form={KEY_FORM}
          action="/settings/keys"
          icon="plus"
          submit={language.say('keys.make.submit')}
          {...fields}
        />
      </Card>
    </>
  );
}

/** The control of the field `scopes`: a checkbox for each scope. */
function Scopes({ label, value, problems }: { label: string; value: unknown; problems: Problems }) {
  const language = useLanguage();
  const chosen = [value].flat();
  const problem = problems.scopes?.join(' ');
  return (
    <fieldset aria-describedby={problem === undefined ? 'scopes-hint' : 'scopes-hint scopes-problem'}>
      <legend>{label}</legend>
      <p class="field">
        <span class="hint" id="scopes-hint">
          {language.say('keys.scopes.hint')}
        </span>
        {problem !== undefined && (
          <span class="problem" id="scopes-problem">
            {problem}
          </span>
        )}
      </p>
      {SCOPES.map((scope) => (
        <CheckField
          key={scope}
          name="scopes"
          value={scope}
          label={language.say(`keys.scope.${scope}`)}
          hint={language.say(`keys.scope.about.${scope}`)}
          checked={chosen.includes(scope)}
        />
      ))}
    </fieldset>
  );
}

/** The day on which the pair was revoked, or the button that revokes the pair. */
function State({ id, name, public_key: publicKey, revoked_at: revokedAt }: KeyRow) {
  const language = useLanguage();
  if (revokedAt !== null)
    return <Badge>{language.say('keys.revoked', { day: language.date(new Date(revokedAt)) })}</Badge>;
  return (
    <Confirm
      id={`revoke-${id}`}
      action={`/settings/keys/${id}/revoke`}
      label={language.say('keys.revoke')}
      title={language.say('keys.revoke.title')}
    >
      <p>{language.say('keys.revoke.text', { key: keyLabel(name, publicKey) })}</p>
    </Confirm>
  );
}
