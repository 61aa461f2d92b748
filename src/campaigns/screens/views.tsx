/** The tabs with which users switch between the list and the calendar of campaigns. */
import { Tabs } from '../../ui/components/surface.tsx';
import { useLanguage } from '../../ui/words/index.ts';

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
