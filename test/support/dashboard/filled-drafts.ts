/** Mailings that are being composed: one with everything it needs, and one with only a name. Templates to make others of. */
import { readFileSync } from 'node:fs';
import type { Test } from 'tap';
import type { TestApp } from '../app.ts';
import { mustSucceed } from '../campaign.ts';
import type { Naming } from './filled-account.ts';

const DESIGN = new URL('../../../data/templates/newsletter.html', import.meta.url);

/** Adds the drafts to the filled and to the empty account. Returns their utrs. */
export async function fillDrafts(
  t: Test,
  app: TestApp,
  naming: Naming,
): Promise<Record<'draft' | 'testedDraft' | 'emptyDraft', string>> {
  const [must, mustEmpty] = [mustSucceed(t, app.one), mustSucceed(t, app.two)];
  const name = naming('Spring letter').slice(0, 200);
  const { utr: draft } = (await must('/single/send/draft', { single_send_name: name })) as { utr: string };
  await must('/single/send/save', { utr: draft, template_id: 5 });
  await must('/single/send/save', {
    utr: draft,
    template_id: 1,
    subject: `FREE for ((first_name|you)): ${name}`.slice(0, 200),
    preheader: 'News',
    recipient_id: ['contacts_1'],
    exclude_specific_recipient_id: ['contacts_2'],
    template_html: readFileSync(DESIGN, 'utf8'),
  });
  for (const [title, template_id] of [
    ['House style', 5],
    ['Invitation', 6],
  ] as const)
    await must('/templates/create', { template_name: naming(title).slice(0, 255), template_id });
  const { utr: testedDraft } = (await must('/single/send/draft', {
    single_send_name: `${name.slice(0, 190)}: test`,
  })) as {
    utr: string;
  };
  await must('/single/send/save', {
    utr: testedDraft,
    template_id: 5,
    subject: name,
    preheader: 'News',
    recipient_id: ['contacts_1'],
  });
  await must('/single/send/variants', {
    utr: testedDraft,
    subjects: [`${name.slice(0, 190)}, ((first_name|you))`, ''],
    sender_names: ['', naming('Ada Lovelace').slice(0, 200)],
    share: 40,
  });
  const { utr: emptyDraft } = (await mustEmpty('/single/send/draft', { single_send_name: name })) as { utr: string };
  return { draft, testedDraft, emptyDraft };
}
