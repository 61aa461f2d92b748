/** The tabs between the lists of addresses that get no mail. */
import { Tabs } from '../../../dashboard/components/surface.tsx';
import { useLanguage } from '../../../dashboard/words/index.ts';
import { LIST_NAMES, type ListName } from './kinds.ts';

/** The parts of Left and blocked. */
export function LeftTabs({ current }: { current: ListName }) {
  const language = useLanguage();
  const hrefs = { all: '/left', group: '/left/groups', blocked: '/left/blocked', inactive: '/left/inactive' } as const;
  return (
    <Tabs
      label={language.say('nav.left')}
      tabs={LIST_NAMES.map((name) => ({
        href: hrefs[name],
        label: language.say(`left.${name}`),
        isCurrent: name === current,
      }))}
    />
  );
}
