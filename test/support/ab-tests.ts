/** A single send with an A/B test. */
import type { Test } from 'tap';
import { startShop } from './shop.ts';

const PEOPLE = Array.from({ length: 200 }, (_, at) => `r${at}`);
/** What a request for the mail has. */
export const MAIL = {
  template_id: 1,
  template_html: '<p>Hello ((first_name)) <a href="https://shop.example/a">a</a></p>',
  sender_id: 1,
  unsubscribe_group_id: 1,
  single_send_name: 'News',
  subject: 'one',
  preheader: 'p',
  recipient_id: ['contacts_1'],
};

/** A queued send of mail `one` to two hundred people, with variant `two`; `start` launches it. */
export async function prepareAbTest(
  t: Test,
  test: Record<string, unknown> = {},
  settings: Record<string, string> = {},
) {
  const shop = await startShop(t, settings);
  await shop.import(PEOPLE);
  const { utr } = await shop.post('/single/send/create', { ...MAIL, schedule_type: 0 });
  await shop.post('/single/send/variants', {
    utr,
    subjects: ['two'],
    share: 50,
    winner_by: 'clicks',
    hours: 4,
    ...test,
  });
  return {
    ...shop,
    utr,
    async start() {
      shop.app.clock.advance(11_000);
      await shop.app.background();
      await shop.pass(2000);
    },
    async report() {
      return (await shop.get('/single-send/report', { utr })).report;
    },
  };
}
export type PreparedTest = Awaited<ReturnType<typeof prepareAbTest>>;
