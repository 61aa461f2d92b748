/** The mails of an automation in their order: how long each waits, who waits for it, and how it went. */
import { Time } from '../../components/figures.tsx';
import { useLanguage } from '../../words/index.ts';
import { mailAddress } from './edit/addresses.ts';
import type { ReportedMail } from './records.ts';

interface StepsProps {
  utr: string;
  mails: readonly ReportedMail[];
  now: Date;
  /** Whether each mail leads to where it is changed. */
  canChange: boolean;
}

export function Steps({ utr, mails, now, canChange }: StepsProps) {
  const language = useLanguage();
  if (mails.length === 0) return <p class="quiet-text">{language.say('automations.noMails')}</p>;
  return (
    <ol class="mail-steps">
      {mails.map((mail, at) => (
        <li key={mail.utr ?? `deleted-${at}`} class={mail.utr === null ? 'deleted' : undefined}>
          <p class="small quiet-text">
            <Wait mail={mail} />
          </p>
          <h3>
            {canChange && mail.utr !== null ? (
              <a href={mailAddress(utr, mail.utr)}>
                <bdi>{mail.subject}</bdi>
              </a>
            ) : (
              <bdi>{mail.subject}</bdi>
            )}
          </h3>
          <p>
            {mail.waiting === 0 || mail.utr === null ? (
              language.say('automations.waiting.none')
            ) : (
              <a href={mailAddress(utr, mail.utr, 'waiting')}>
                {language.say('automations.waiting', { count: mail.waiting })}
              </a>
            )}
            {mail.next_due_at !== null && (
              <>
                {' '}
                {language.say('automations.next')} <Time at={new Date(mail.next_due_at)} now={now} />
              </>
            )}
          </p>
          <dl class="inline-figures">
            <Figure label={language.say('automations.delivered')} value={language.number(mail.delivered - mail.kept)} />
            {mail.kept > 0 && <Figure label={language.say('delivery.kept')} value={language.number(mail.kept)} />}
            <Figure
              label={language.say('automations.opened')}
              value={share(mail.people_opens, mail.delivered - mail.kept - mail.unmeasured)}
            />
            <Figure label={language.say('automations.left')} value={language.number(mail.unsubscribes)} />
            <Figure label={language.say('automations.bounced')} value={language.number(mail.bounces)} />
          </dl>
        </li>
      ))}
    </ol>
  );

  function share(part: number, whole: number): string {
    return whole <= 0 ? '–' : language.percent(part / whole);
  }
}

/** How long after the one before it a mail comes; a deleted one never. */
export function Wait({
  mail: { utr, waiting_type: unit, waiting_period: period },
}: {
  mail: Pick<ReportedMail, 'utr' | 'waiting_type' | 'waiting_period'>;
}) {
  const language = useLanguage();
  if (utr === null) return <>{language.say('automations.deleted')}</>;
  if (unit === null || unit === 'instantly' || !period) return <>{language.say('automations.atOnce')}</>;
  const key = unit === 'days' ? 'automations.after.days' : 'automations.after.hours';
  return <>{language.say(key, { count: period })}</>;
}

function Figure({ label, value }: { label: string; value: string }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{value}</dd>
    </div>
  );
}
