/** The links between the views of the campaigns: the list and the calendar. */
import { Tabs } from '../../ui/components/surface.tsx';
import { useLanguage } from '../../ui/words/index.ts';

/** The tabs above the list and the calendar. */
export function CampaignViews({ current }: { current: 'list' | 'calendar' }) {
  const language = useLanguage();
  const tab = (view: 'list' | 'calendar', href: string) => ({
    href,
    label: language.say(`campaigns.view.${view}`),
    isCurrent: view === current,
  });
  return (
    <Tabs
      label={language.say('campaigns.views')}
      tabs={[tab('list', '/campaigns'), tab('calendar', '/campaigns/calendar')]}
    />
  );
}
