/** The operation that makes an automation from a recipe. */
import { randomUUID } from 'node:crypto';
import Type from 'typebox';
import { checkedTargets } from '../../audience/segments/segments.ts';
import { inTransaction } from '../../database/transaction.ts';
import { editTemplate } from '../../delivery/compiling/compile.ts';
import { withinShare } from '../../http/account-share.ts';
import { choice, described, integer, line } from '../../http/requests/schemas.ts';
import { LANGUAGE_CODES } from '../../languages.ts';
import { operation } from '../../operations/operation.ts';
import { designerBrand } from '../../templates/brand/brand.ts';
import { BLANK_TEMPLATE } from '../../templates/mail-content.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { insertSchedule } from '../automations.ts';
import { RECIPE_BY_NAME, RECIPES, recipeMjml } from '../recipes.ts';
import { insertDraft } from '../status.ts';
import { checkAutomation, TARGET } from './automations.ts';
import { checkMail } from './mails.ts';

export const createFromRecipe = operation({
  name: 'Create an automation from a recipe, with its mails (addition)',
  description:
    'It is a draft, in which everything can be changed. The recipe birthday starts with the event birthday of a contact.',
  role: 'editor',
  input: Type.Object({
    recipe: described(choice(...RECIPES), 'What the automation is for.'),
    language: { ...choice(...LANGUAGE_CODES), description: 'The language of its mails.' },
    automation_name: line({ minLength: 1 }),
    automation_for: line({ minLength: 1, description: TARGET }),
    unsubscribe_group_id: integer({ description: '0: not chosen yet.' }),
    sender_id: integer({ description: 'Id of the sender of its mails.' }),
  }),
  output: Type.Object({ utr: Type.String() }),
  check(context, given, errors) {
    checkAutomation(context, given, errors);
    checkMail(context, given, errors);
  },
  async run({ db, clock, accountId, actor, publicUrl, wake }, { recipe, language, automation_for, ...given }) {
    const { trigger_event, exit_criteria, mails } = RECIPE_BY_NAME[recipe];
    const look = designerBrand(db, accountId, publicUrl());
    const written = await withinShare(accountId, () =>
      Promise.all(
        mails.map(async ({ texts, waiting_type, waiting_period }) => {
          const { subject, preheader } = texts[language];
          const template_json = await editTemplate(accountId, recipeMjml(language, texts[language], look), '');
          return { subject, preheader, waiting_type, waiting_period, template_json };
        }),
      ),
    );
    const [target] = checkedTargets([automation_for]);
    const now = isoTimestamp(clock.now());
    const record = { user_id: accountId, changed_by: actor.userId, created_at: now, updated_at: now };
    const utr = randomUUID();
    const create = () => {
      const automation_id = insertDraft(db, {
        ...record,
        utr,
        automation_name: given.automation_name,
        automation_for: Number(target?.id ?? 0),
        automation_for_table: target?.table ?? '',
        unsubscribe_group_id: String(given.unsubscribe_group_id),
        automation_type: recipe === 'welcome' ? 1 : 2,
        trigger_event,
        trigger_kind: trigger_event === '' ? 'join' : 'event',
        exit_criteria,
      });
      for (const mail of written)
        insertSchedule(db, {
          ...record,
          ...mail,
          utr: randomUUID(),
          automation_id,
          sender_id: given.sender_id,
          template_id: BLANK_TEMPLATE,
          preview_img: '',
          template_html: '',
        });
    };
    inTransaction(db, create);
    wake();
    return { utr };
  },
});
