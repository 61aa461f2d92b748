/** The settings page with the public URL, and the SMTP relays in order with their states. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ById } from '../../../http/pages/layout.ts';
import { isLoopback } from '../../../http/same-origin.ts';
import { lookAtPublicAddress } from '../../../installation/operations.ts';
import { Button, LinkButton } from '../../../ui/components/button.tsx';
import type { Problems } from '../../../ui/components/field.tsx';
import { Badge, Empty, Notice } from '../../../ui/components/surface.tsx';
import { NamedLink, Table } from '../../../ui/components/table.tsx';
import { setFlash } from '../../../ui/flash.ts';
import { ask, attempt } from '../../../ui/operations.ts';
import { recordTime } from '../../../ui/record-time.ts';
import { backTo, sendSettings } from '../../../ui/settings/frame.tsx';
import { requireOperator } from '../../../ui/signed-in.ts';
import { field } from '../../../ui/submitted.ts';
import { useLanguage } from '../../../ui/words/index.ts';
import { changePublicUrl, readPublicUrl } from '../operations/public-url.ts';
import { orderRelays, type Relay, readRelays, type Ways } from '../operations/relays.ts';
import { AddressCard } from './address-card.tsx';
import { relayForms } from './form.tsx';
import { relayState } from './relay-state.ts';

const TONES = { untried: 'plain', answers: 'good', works: 'good', fails: 'bad' } as const;

/** Registers the page with the list of relays and the public URL, and the pages of a single relay. */
export async function sendingScreens(app: FastifyInstance): Promise<void> {
  const show = async (
    request: FastifyRequest,
    reply: FastifyReply,
    { problem = '', typed, problems = {} }: { problem?: string; typed?: string; problems?: Problems } = {},
  ) => {
    const [sending, { public_address: address }] = await Promise.all([
      ask(request, readRelays, {}),
      ask(request, readPublicUrl, {}),
    ]);
    const value = typed ?? (address.url || offeredAddress(request));
    const now = app.deps.clock.now();
    const card = <AddressCard {...{ address, value, problems, now }} />;
    // A missing public URL comes first. Once it is set, the relays come first.
    const isAddressFirst = address.source === 'none' || typed !== undefined;
    return sendSettings(
      request,
      reply,
      'sending',
      <>
        {isAddressFirst && card}
        <Relays {...sending} now={now} />
        {!isAddressFirst && card}
      </>,
      problem,
    );
  };

  app.get('/settings/sending', (request, reply) => {
    requireOperator(request);
    return show(request, reply);
  });

  app.post('/settings/sending/address', async (request, reply) => {
    requireOperator(request);
    const typed = field(request, 'public_url');
    const saved = await attempt(request, changePublicUrl, { public_url: typed });
    if ('problems' in saved) return show(request, reply.code(saved.status), { typed, ...saved });
    setFlash(reply, 'good', 'settings.done.address');
    return reply.redirect('/settings/sending#address', 303);
  });

  app.post('/settings/sending/address/look', async (request, reply) => {
    await ask(request, lookAtPublicAddress, {});
    return reply.redirect('/settings/sending#address', 303);
  });

  // Moves a relay one position up.
  app.post<ById>('/settings/sending/:id/up', async (request, reply) => {
    requireOperator(request);
    const { relays } = await ask(request, readRelays, {});
    const ids = relays.map(({ id }) => id);
    const at = ids.indexOf(Number(request.params.id));
    if (at > 0) ids.splice(at - 1, 2, ...ids.slice(at - 1, at + 1).reverse());
    await ask(request, orderRelays, { strIds: ids });
    return backTo(reply, 'sending', 'settings.done.relaysOrdered');
  });
  await relayForms(app);
}

/**
 * The suggested public URL: the origin that is open in the browser, if others may reach it too; otherwise empty. The suggestion is https,
 * because a session needs an encrypted connection.
 */
function offeredAddress(request: FastifyRequest): string {
  return isLoopback(request) ? '' : `https://${request.host}`;
}

function Relays({ relays, ways, now }: { relays: readonly Relay[]; ways: Ways; now: Date }) {
  const language = useLanguage();
  const usesStoredRelays = ways.environment.length === 0;
  if (relays.length === 0) {
    return (
      <>
        {!usesStoredRelays && <Environment relays={ways.environment} />}
        <Empty pose="flies" title={language.say('smtp.none.title')} action={<AddLink />}>
          {language.say('smtp.none.text')}
        </Empty>
      </>
    );
  }
  return (
    <>
      {!usesStoredRelays && <Environment relays={ways.environment} />}
      <p class="quiet-text">{language.say('smtp.text')}</p>
      <Table
        caption={language.say('settings.sending')}
        rows={relays}
        keyOf={({ id }) => id}
        columns={[
          {
            heading: language.say('smtp.relay'),
            cell: ({ id, name }) => <NamedLink href={`/settings/sending/${id}`} name={name} />,
          },
          {
            heading: language.say('smtp.server'),
            cell: ({ host, port }) => <span class="browser">{`${host}:${port}`}</span>,
          },
          {
            heading: language.say('smtp.state'),
            cell: (relay) => <State relay={relay} usesStoredRelays={usesStoredRelays} now={now} />,
          },
          {
            heading: language.say('smtp.order'),
            cell: (relay) => <Order relay={relay} before={relays[relays.indexOf(relay) - 1]} />,
          },
        ]}
      />
      <p>
        <AddLink />
      </p>
    </>
  );
}

function Environment({ relays }: { relays: readonly string[] }) {
  return <Notice>{useLanguage().say('smtp.environment', { relays: relays.join(', ') })}</Notice>;
}

function AddLink() {
  return <LinkButton href="/settings/sending/new" icon="plus" label={useLanguage().say('smtp.add')} />;
}

function State({ relay, usesStoredRelays, now }: { relay: Relay; usesStoredRelays: boolean; now: Date }) {
  const language = useLanguage();
  const { state, at } = relayState(relay);
  const time = recordTime(at);
  if (!usesStoredRelays) return <Badge>{language.say('smtp.state.unused')}</Badge>;
  return (
    <div>
      <Badge tone={TONES[state]}>{language.say(`smtp.state.${state}`)}</Badge>
      {state !== 'untried' && time !== null && (
        <span class="second-line quiet-text">
          {language.say(`smtp.seen.${state}`, { time: language.relative(time, now) })}
        </span>
      )}
      {state === 'fails' && <span class="second-line quiet-text browser">{relay.failure}</span>}
    </div>
  );
}

function Order({ relay, before }: { relay: Relay; before: Relay | undefined }) {
  const language = useLanguage();
  if (before === undefined) return <>{language.say('smtp.first')}</>;
  return (
    <form method="post" action={`/settings/sending/${relay.id}/up`}>
      <Button look="plain" label={language.say('smtp.up', { name: before.name })} />
    </form>
  );
}
