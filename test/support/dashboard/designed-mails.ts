/** A mail of an automation with a link to its design page, and a design. */
import type { Test } from 'tap';
import { startApp } from '../app.ts';
import { mustSucceed, sendCampaign } from '../campaign.ts';

/** A design with one text. */
export const mail = (text: string) =>
  `<mjml><mj-body><mj-section><mj-column><mj-text>${text}</mj-text></mj-column></mj-section></mj-body></mjml>`;

/** An automation with one mail, and the path of that mail's design page. */
export async function withSchedule(t: Test) {
  const app = await startApp(t);
  await sendCampaign(t, app);
  const must = mustSucceed(t, app.one);
  const { utr } = (await must('/automations/create', {
    type: 'welcome',
    automation_for: 'contacts_1',
    automation_name: 'Welcome',
    unsubscribe_group_id: 1,
  })) as { utr: string };
  await must('/automations/schedule/create', {
    utr,
    sender_id: 1,
    subject: 'Hello ((first_name))',
    waiting_period: 1,
    waiting_type: 'instantly',
    template_id: 1,
    preview_img: 'blank.png',
    template_html: '<p>First design</p>',
  });
  const { body } = await app.one.call('GET', '/automations/schedule', { query: { utr } });
  const path = new URL(body.message.automation_schedules[0].design_url).pathname;
  return { app, must, utr, path };
}
