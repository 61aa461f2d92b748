/** The tabs between the lists of addresses that get no mail. */
import { Tabs } from '../../components/surface.tsx';
import { useLanguage } from '../../words/index.ts';
import type { ListName } from './lists.ts';

/** The parts of Left and blocked. */
export function LeftTabs({ current }: { current: ListName }) {
  const language = useLanguage();
  const hrefs = { all: '/left', group: '/left/groups', blocked: '/left/blocked', inactive: '/left/inactive' } as const;
  const names: readonly ListName[] = ['all', 'group', 'blocked', 'inactive'];
  return (
    <Tabs
      label={language.say('nav.left')}
      tabs={names.map((name) => ({
        href: hrefs[name],
        label: language.say(`left.${name}`),
        isCurrent: name === current,
      }))}
    />
  );
}
