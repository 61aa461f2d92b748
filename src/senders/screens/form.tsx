/** The form that adds or changes a sender, and the confirmation before it is deleted. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { type Country, listCountries } from '../../audience/places/operations.ts';
import { listFeedsUsing, type UsingFeed } from '../../audience/uses/operations.ts';
import { FeedsUsing } from '../../audience/uses/screens/feeds.tsx';
import { isTestMode } from '../../delivery/transport/relays/in-use.ts';
import type { ById } from '../../http/pages/layout.ts';
import { Button, LinkButton } from '../../ui/components/button.tsx';
import { Confirm } from '../../ui/components/confirm.tsx';
import { type Problems, SelectField, TextField } from '../../ui/components/field.tsx';
import { Card } from '../../ui/components/surface.tsx';
import { ask, attempt } from '../../ui/operations.ts';
import { languageOf } from '../../ui/page.tsx';
import { backTo, sendSettings } from '../../ui/settings/frame.tsx';
import { requireOwner, viewerOf } from '../../ui/signed-in.ts';
import { field } from '../../ui/submitted.ts';
import { useLanguage } from '../../ui/words/index.ts';
import { countryOptions } from '../../ui/words/known.ts';
import {
  addSender,
  changeSender,
  deleteSender,
  readSender,
  readSenderUsage,
  type Sender,
  type Usage,
} from '../operations/senders.ts';
import { readRelays } from '../relays/operations/relays.ts';
import { CityField, type CityIds, cityOffers, cityText, readCity } from './city.tsx';

const TEXTS = [
  'from_name',
  'from_email',
  'reply_to_email',
  'nickname',
  'company_address',
  'company_address2',
  'zip_code',
] as const;
const FIELDS = [...TEXTS, 'country_id'] as const;
type Values = Record<(typeof FIELDS)[number] | 'city' | 'relay_id', string>;

interface Form {
  /** The sender to change, with what its deletion would stop; null for a new sender. */
  changed: { id: string; email: string; usage: Usage; feeds: readonly UsingFeed[] } | null;
  values: Values;
  countries: readonly Country[];
  /** The relays to choose from; null if the user may not choose. */
  sending: Sending | null;
  problems?: Problems;
}

type Sending = Static<typeof readRelays.output>;

/** Registers the pages that add, change and delete senders. */
export async function senderForms(app: FastifyInstance): Promise<void> {
  await cityOffers(app);

  app.get('/settings/senders/new', (request, reply) => {
    requireOwner(request);
    return show(request, reply, null, typedValues(request));
  });

  app.post('/settings/senders/new', (request, reply) => save(request, reply, null));

  app.get<ById>('/settings/senders/:id', async (request, reply) => {
    requireOwner(request);
    const { id } = request.params;
    const sender = await ask(request, readSender, { sender_id: id });
    const values = Object.fromEntries(FIELDS.map((name) => [name, String(sender[name] || '')]));
    const city = await cityText(request, sender.country_id, sender);
    const sending = await readSending(request);
    const relay = sending?.relays.find(({ sender_ids: ids }) => ids.includes(sender.id));
    return show(request, reply, id, { ...typedValues(request), ...values, city, relay_id: String(relay?.id ?? '') });
  });

  app.post<ById>('/settings/senders/:id', (request, reply) => save(request, reply, request.params.id));

  app.post<ById>('/settings/senders/:id/delete', async (request, reply) => {
    await ask(request, deleteSender, { sender_id: request.params.id });
    return backTo(reply, 'senders', 'settings.done.senderDeleted');
  });

  async function save(request: FastifyRequest, reply: FastifyReply, id: string | null) {
    requireOwner(request);
    const values = typedValues(request);
    const { relay_id, city, ...others } = values;
    const country_id = asId(others.country_id);
    const stored = id === null ? null : await ask(request, readSender, { sender_id: id });
    const place =
      city === ''
        ? await keptPlace(request, stored, country_id)
        : await readCity(request, country_id || 0, city, stored?.city_id ?? 0);
    if (typeof place === 'string') {
      const text = languageOf(request, viewerOf(request)).say(
        country_id === '' ? 'senders.city.country' : `senders.city.${place}`,
      );
      return show(request, reply.code(422), id, values, { city: [text] });
    }
    const relay = viewerOf(request).isOperator ? { relay_id } : {};
    const fields = { ...others, ...relay, country_id, ...place };
    const saved =
      id === null
        ? await attempt(request, addSender, fields)
        : await attempt(request, changeSender, { ...fields, sender_id: id });
    if ('problems' in saved) return show(request, reply.code(saved.status), id, values, saved.problems, saved.problem);
    const isKept = isTestMode(app.deps.db.$client, app.deps.config);
    const added = isKept ? 'settings.done.senderAddedKept' : 'settings.done.senderAdded';
    return backTo(reply, 'senders', id === null ? added : 'settings.done.changed');
  }

  /** Returns the relays to choose from; null for users who are not operators, and if no relay is stored. */
  async function readSending(request: FastifyRequest): Promise<Sending | null> {
    if (!viewerOf(request).isOperator) return null;
    const sending = await ask(request, readRelays, {});
    return sending.relays.length === 0 ? null : sending;
  }

  async function show(
    request: FastifyRequest,
    reply: FastifyReply,
    id: string | null,
    values: Values,
    problems: Problems = {},
    problem = '',
  ) {
    const { countries } = await ask(request, listCountries, {});
    const changed = id === null ? null : { id, ...(await readUsage(request, id)) };
    const sending = await readSending(request);
    const form = <SenderForm {...{ changed, values, countries, sending, problems }} />;
    return sendSettings(request, reply, 'senders', form, problem);
  }
}

async function readUsage(request: FastifyRequest, id: string) {
  const [{ from_email: email }, { usage }, feeds] = await Promise.all([
    ask(request, readSender, { sender_id: id }),
    ask(request, readSenderUsage, { sender_id: id }),
    ask(request, listFeedsUsing, { kind: 'sender', id }),
  ]);
  return { email, usage, feeds };
}

/**
 * Returns the stored state and city if the country is unchanged and the form could not show the city, for example because it is not in the
 * stored state. Otherwise returns 0 for both.
 */
async function keptPlace(request: FastifyRequest, stored: Sender | null, countryId: number | ''): Promise<CityIds> {
  const none = { state_id: 0, city_id: 0 };
  if (stored === null) return none;
  const { country_id, state_id, city_id } = stored;
  return country_id === countryId && (await cityText(request, country_id, stored)) === ''
    ? { state_id, city_id }
    : none;
}

/** Returns a chosen id as a number; empty for any other text, so that the operation reports a missing value. */
function asId(text: string): number | '' {
  return /^\d{1,9}$/.test(text) ? Number(text) : '';
}

/** The values of the form as the user typed them; empty texts if no form was sent. */
function typedValues(request: FastifyRequest): Values {
  const value = (name: keyof Values) => field(request, name);
  return {
    from_name: value('from_name'),
    from_email: value('from_email'),
    reply_to_email: value('reply_to_email'),
    nickname: value('nickname'),
    company_address: value('company_address'),
    company_address2: value('company_address2'),
    zip_code: value('zip_code'),
    country_id: value('country_id'),
    city: value('city').trim(),
    relay_id: value('relay_id'),
  };
}

function SenderForm({ changed, values, countries, sending, problems = {} }: Form) {
  const language = useLanguage();
  const input = (name: (typeof TEXTS)[number]) => ({
    name,
    label: language.say(`senders.field.${name}`),
    value: values[name],
    problems,
  });
  return (
    <Card
      title={changed === null ? language.say('senders.add') : language.say('senders.change', { email: changed.email })}
    >
      <form method="post" action={`/settings/senders/${changed?.id ?? 'new'}`} class="narrow">
        <TextField {...input('from_name')} hint={language.say('senders.hint.from_name')} required />
        <TextField {...input('from_email')} hint={language.say('senders.hint.from_email')} type="email" required />
        <TextField {...input('reply_to_email')} type="email" required />
        <TextField {...input('nickname')} hint={language.say('senders.hint.nickname')} required />
        <TextField {...input('company_address')} hint={language.say('senders.hint.company_address')} required />
        <TextField {...input('company_address2')} />
        <TextField {...input('zip_code')} />
        <SelectField
          name="country_id"
          label={language.say('senders.field.country_id')}
          options={[{ value: '', label: language.say('senders.choose') }, ...countryOptions(language, countries)]}
          value={values.country_id}
          problems={problems}
        />
        <CityField value={values.city} problems={problems} />
        {sending !== null && <RelayField {...{ sending, problems }} value={values.relay_id} />}
        <div class="buttons">
          <Button label={language.say(changed === null ? 'senders.add.submit' : 'senders.save')} />
          <LinkButton look="plain" href="/settings/senders" label={language.say('confirm.cancel')} />
        </div>
      </form>
      {changed && <Delete {...changed} />}
    </Card>
  );
}

function RelayField({ sending, value, problems }: { sending: Sending; value: string; problems: Problems }) {
  const language = useLanguage();
  const usesStoredRelays = sending.ways.environment.length === 0;
  return (
    <SelectField
      name="relay_id"
      label={language.say('senders.field.relay_id')}
      options={[
        { value: '', label: language.say('senders.relay.any') },
        ...sending.relays.map(({ id, name }) => ({ value: String(id), label: name })),
      ]}
      value={value}
      problems={problems}
      hint={language.say(usesStoredRelays ? 'senders.hint.relay_id' : 'senders.relay.unused')}
    />
  );
}

const STOPPED = ['queued', 'sending', 'live_automations', 'drafts'] as const;

function Delete({ id, email, usage, feeds }: NonNullable<Form['changed']>) {
  const language = useLanguage();
  const stopped = STOPPED.filter((name) => usage[name] > 0);
  return (
    <p>
      <Confirm
        id="delete"
        action={`/settings/senders/${id}/delete`}
        label={language.say('senders.delete')}
        title={language.say('senders.delete.title', { email })}
      >
        <p>{language.say('senders.delete.text')}</p>
        {stopped.length === 0 && <p>{language.say('senders.delete.unused')}</p>}
        {stopped.map((name) => (
          <p key={name}>{language.say(`senders.delete.${name}`, { count: usage[name] })}</p>
        ))}
        <FeedsUsing kind="sender" feeds={feeds} />
      </Confirm>
    </p>
  );
}
