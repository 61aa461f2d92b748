/** The notice that mail providers may distrust the domain of a sender. */
import type { Static } from 'typebox';
import { Notice } from '../../ui/components/surface.tsx';
import type { Viewer } from '../../ui/viewer.ts';
import { useLanguage } from '../../ui/words/index.ts';
import type { readDomainDoubt } from '../operations/checks.ts';

/** Why mail providers may distrust the domain of a sender; null if nothing is known against it. */
export type Doubt = Static<typeof readDomainDoubt.output>['doubt'];

/** Shows the doubt, if there is one. Only owners get the link, because only they may open the page with the DNS records. */
export function WhyDistrusted({ doubt, viewer }: { doubt: Doubt; viewer: Viewer }) {
  const language = useLanguage();
  if (doubt === null) return null;
  const { domain } = doubt;
  const checks = doubt.checks.map((check) => language.say(`domains.name.${check}`)).join(', ');
  return (
    <Notice tone="warn">
      {checks === ''
        ? language.say('domains.doubt.unchecked', { domain })
        : language.say('domains.doubt', { domain, checks })}{' '}
      {viewer.role === 'owner' && <a href="/settings/senders#dns">{language.say('domains.title')}</a>}
    </Notice>
  );
}
