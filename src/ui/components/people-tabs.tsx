/** The links between the list of contacts and the list of segments. */
import { useLanguage } from '../words/index.ts';
import { Tabs } from './surface.tsx';

/** The tabs above the lists of contacts and segments. */
export function PeopleTabs({ current }: { current: 'contacts' | 'segments' }) {
  const language = useLanguage();
  return (
    <Tabs
      label={language.say('nav.contacts')}
      tabs={[
        { href: '/contacts', label: language.say('segments.everybody'), isCurrent: current === 'contacts' },
        { href: '/contacts/segments', label: language.say('segments.title'), isCurrent: current === 'segments' },
      ]}
    />
  );
}
