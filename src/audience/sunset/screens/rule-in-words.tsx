/** The rule about inactive people in a sentence, above the list of those. */
import { LinkButton } from '../../../dashboard/components/button.tsx';
import { Notice } from '../../../dashboard/components/surface.tsx';
import { useLanguage } from '../../../dashboard/words/index.ts';
import type { Sunset } from '../operations.ts';

export function RuleInWords({ sunset }: { sunset: Sunset }) {
  const language = useLanguage();
  const { is_on, months, least_mails: mails } = sunset;
  return (
    <div class="stack">
      {is_on === 1 && sunset.is_target_missing === 1 && (
        <Notice tone="warn">{language.say('inactive.rule.missing')}</Notice>
      )}
      <p>
        <b>{language.say(is_on === 1 ? 'inactive.rule.on' : 'inactive.rule.off')}</b>{' '}
        {is_on === 1 && (
          <>
            {language.say('inactive.rule.months', { count: months })}{' '}
            {language.say('inactive.rule.mails', { count: mails })}
          </>
        )}
      </p>
      <p>{language.say('inactive.stopped', { count: sunset.stopped })}</p>
      <div class="buttons">
        <LinkButton href="/left/inactive/rule" look="plain">
          {language.say('inactive.rule.open')}
        </LinkButton>
      </div>
    </div>
  );
}
