/** The mails of an automation in their order, with what can be done with each. */
import { Button, LinkButton } from '../../../components/button.tsx';
import { Notice } from '../../../components/surface.tsx';
import { useLanguage } from '../../../words/index.ts';
import { Wait } from '../steps.tsx';
import { automationAddress, mailAddress } from './addresses.ts';
import type { Series, SeriesMail } from './series.ts';

export function MailList({ series }: { series: Series }) {
  const language = useLanguage();
  const { mails, utr } = series;
  return (
    <div id="mails">
      {mails.length === 0 ? (
        <p class="quiet-text">{language.say('automations.noMails')}</p>
      ) : (
        <ol class="mail-steps">
          {mails.map((mail, at) => (
            <li key={mail.utr}>
              <p class="small quiet-text">
                <Wait mail={mail} />
              </p>
              <h3>
                <a href={mailAddress(utr, mail.utr)}>
                  <bdi>{mail.subject}</bdi>
                </a>
              </h3>
              {mail.content === 'none' && <Notice tone="warn">{language.say('automations.noContent')}</Notice>}
              <div class="buttons">
                {at > 0 && <Move series={series} mail={mail} where="up" />}
                {at < mails.length - 1 && <Move series={series} mail={mail} where="down" />}
                <LinkButton look="quiet" href={`${automationAddress(utr)}/mails/new?before=${mail.utr}`}>
                  {language.say('automations.addBefore')}
                </LinkButton>
                <LinkButton look="quiet" href={mailAddress(utr, mail.utr, 'remove')}>
                  {language.say('automations.remove')}
                </LinkButton>
              </div>
            </li>
          ))}
        </ol>
      )}
      <div class="buttons below">
        <LinkButton look={mails.length === 0 ? 'primary' : 'plain'} href={`${automationAddress(utr)}/mails/new`}>
          {language.say('automations.addMail')}
        </LinkButton>
      </div>
    </div>
  );
}

function Move({ series, mail, where }: { series: Series; mail: SeriesMail; where: 'up' | 'down' }) {
  const language = useLanguage();
  return (
    <form method="post" action={`${automationAddress(series.utr)}/order`}>
      <Button look="quiet">{language.say(`automations.move.${where}`)}</Button>
      <input type="hidden" name="mail" value={mail.utr} />
      <input type="hidden" name="where" value={where} />
      <input type="hidden" name="unchanged_since" value={series.updated_at} />
    </form>
  );
}
