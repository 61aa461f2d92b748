/** The senders with the state of their verification, and the DNS records of their domains. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { shownDeliveryState } from '../../delivery/reporting/mailing-report.ts';
import { isTestMode } from '../../delivery/transport/relays/in-use.ts';
import type { ById } from '../../http/pages/layout.ts';
import { dayOf } from '../../time/clock.ts';
import { Button, LinkButton } from '../../ui/components/button.tsx';
import { Badge, Empty } from '../../ui/components/surface.tsx';
import { Table } from '../../ui/components/table.tsx';
import { ask, attempt } from '../../ui/operations.ts';
import { recordTime } from '../../ui/record-time.ts';
import { backTo, sendSettings } from '../../ui/settings/frame.tsx';
import { viewerOf } from '../../ui/signed-in.ts';
import { field } from '../../ui/submitted.ts';
import { useLanguage } from '../../ui/words/index.ts';
import { type Checks, readChecks, renewChecks } from '../operations/checks.ts';
import { listSenders, resendVerification, type Sender } from '../operations/senders.ts';
import { readWarmUps } from '../operations/warm-ups.ts';
import { type Relay, readRelays } from '../relays/operations/relays.ts';
import { relayState } from '../relays/screens/relay-state.ts';
import { Domains } from './domains.tsx';
import { senderForms } from './form.tsx';
import { keyForms } from './keys.tsx';
import { type WarmUpForm, WarmUps, warmUpForms } from './warm-ups.tsx';
import { checkAgain, findWatch, watchPath } from './watch-domain.ts';

/** A sender with the state of its verification. `onlyRelay`: the only relay that its mail uses; null: any relay. */
type Row = Sender & Checks['verifications'][number] & { onlyRelay: Relay | null };

/** Registers the list of the senders, and the pages of a single sender. */
export async function senderScreens(app: FastifyInstance): Promise<void> {
  const { clock, db, config } = app.deps;
  const show = async (request: FastifyRequest, reply: FastifyReply, problem = '', form: WarmUpForm = {}) => {
    const [senders, lastChecks, { warm_ups: warmUps }] = await Promise.all([
      ask(request, listSenders, {}),
      ask(request, readChecks, {}),
      ask(request, readWarmUps, {}),
    ]);
    const watch = findWatch(request, lastChecks.domains, clock.now());
    const newChecks = watch && (await checkAgain(request, lastChecks, watch, clock.now()));
    const { verifications, domains } = newChecks ?? lastChecks;
    const isOperator = viewerOf(request).isOperator;
    const sending = isOperator ? await ask(request, readRelays, {}) : null;
    // SMTP_URL replaces the stored relays, and with them the relay of a sender.
    const usesStoredRelays = sending?.ways.environment.length === 0;
    const byId = new Map(verifications.map((verification) => [verification.sender_id, verification]));
    const rows = senders.flatMap((sender) => {
      const verification = byId.get(sender.id);
      const relay = sending?.relays.find(({ sender_ids: ids }) => ids.includes(sender.id));
      const onlyRelay = relay !== undefined && usesStoredRelays ? relay : null;
      return verification === undefined ? [] : [{ ...sender, ...verification, onlyRelay }];
    });
    const warmUp = { warmUps, form, today: dayOf(clock.now()) };
    const dns = { now: clock.now(), isOperator, domains, watch: findWatch(request, domains, clock.now()) };
    const content = <Senders rows={rows} warmUp={warmUp} {...dns} />;
    return sendSettings(request, reply, 'senders', content, problem);
  };

  app.get('/settings/senders', (request, reply) => show(request, reply));

  app.post('/settings/senders/check', async (request, reply) => {
    const domain = field(request, 'domain');
    // The page of one domain checks automatically, so the user need not wait for the DNS here.
    if (domain !== '') return reply.redirect(watchPath(domain, clock.now()), 303);
    await ask(request, renewChecks, {});
    return backTo(reply, 'senders', 'settings.done.dnsAsked');
  });

  keyForms(app, show);
  warmUpForms(app, show);

  app.post<ById>('/settings/senders/:id/resend', async (request, reply) => {
    const resent = await attempt(request, resendVerification, { sender_id: request.params.id });
    if ('problems' in resent) return show(request, reply.code(resent.status), resent.text);
    const isKept = isTestMode(db.$client, config);
    return backTo(reply, 'senders', isKept ? 'settings.done.resentKept' : 'settings.done.resent');
  });
  await senderForms(app);
}

function Senders({
  rows,
  warmUp,
  ...dns
}: {
  rows: readonly Row[];
  warmUp: Omit<Parameters<typeof WarmUps>[0], 'domains'>;
} & Parameters<typeof Domains>[0]) {
  const { now } = dns;
  const language = useLanguage();
  if (rows.length === 0) {
    return (
      <Empty pose="flies" title={language.say('senders.none.title')} action={<AddLink />}>
        {language.say('senders.none.text')}
      </Empty>
    );
  }
  return (
    <>
      <p class="quiet-text">{language.say('senders.hint')}</p>
      <Table
        caption={language.say('settings.senders')}
        rows={rows}
        keyOf={({ id }) => id}
        columns={[
          {
            heading: language.say('senders.sender'),
            cell: ({ id, nickname, from_name: name }) => <a href={`/settings/senders/${id}`}>{nickname || name}</a>,
          },
          { heading: language.say('senders.address'), cell: ({ from_email: email }) => email },
          { heading: language.say('senders.state'), cell: (row) => <State {...row} /> },
          { heading: language.say('senders.mail'), cell: (row) => <VerificationMail row={row} now={now} /> },
        ]}
      />
      <p>
        <AddLink />
      </p>
      <Domains {...dns} />
      <WarmUps domains={dns.domains.map(({ domain }) => domain)} {...warmUp} />
    </>
  );
}

function AddLink() {
  return <LinkButton href="/settings/senders/new" icon="plus" label={useLanguage().say('senders.add')} />;
}

function State({ is_verified: isVerified, onlyRelay }: Row) {
  const language = useLanguage();
  return (
    <div>
      {isVerified === 1 ? (
        <Badge tone="good">{language.say('senders.verified')}</Badge>
      ) : (
        <Badge tone="warn">{language.say('senders.unverified')}</Badge>
      )}
      {onlyRelay !== null && (
        <span class="second-line quiet-text">{language.say('senders.relay.only', { name: onlyRelay.name })}</span>
      )}
      {onlyRelay !== null && relayState(onlyRelay).state === 'fails' && (
        <span class="second-line browser">
          {language.say('senders.relay.waits', { reply: onlyRelay.failure ?? '' })}
        </span>
      )}
    </div>
  );
}

/** The state of the last verification mail, and the button that sends another mail if one is needed and may be sent. */
function VerificationMail({ row, now }: { row: Row; now: Date }) {
  const language = useLanguage();
  const sentAt = recordTime(row.sent_at);
  const resendAt = recordTime(row.resend_at);
  const time = sentAt === null ? '' : language.relative(sentAt, now);
  const state = row.state === null ? null : shownDeliveryState(row.state, row.reply);
  return (
    <div>
      <span>{state === null ? language.say('senders.never') : language.fill(`senders.mail.${state}`, { time })}</span>
      {row.is_verified === 0 && state !== 'kept' && (row.held_reason ?? row.reply) && (
        <span class="second-line quiet-text browser">{language.sentence(row.held_reason ?? row.reply ?? '')}</span>
      )}
      {row.is_verified === 0 &&
        (resendAt === null ? (
          <form method="post" action={`/settings/senders/${row.id}/resend`}>
            <Button look="plain" label={language.say('senders.resend')} />
          </form>
        ) : (
          <span class="second-line quiet-text">
            {language.say('senders.resendAt', { time: language.relative(resendAt, now) })}
          </span>
        ))}
    </div>
  );
}
