/** The links between the list of people, their segments, and the forms by which they come. */

import { useLanguage } from '../words/index.ts';
import { Tabs } from './surface.tsx';

export function PeopleTabs({ current }: { current: 'people' | 'segments' | 'forms' }) {
  const language = useLanguage();
  return (
    <Tabs
      label={language.say('nav.people')}
      tabs={[
        { href: '/people', label: language.say('segments.everybody'), isCurrent: current === 'people' },
        { href: '/people/segments', label: language.say('segments.title'), isCurrent: current === 'segments' },
        { href: '/people/forms', label: language.say('forms.title'), isCurrent: current === 'forms' },
      ]}
    />
  );
}
