/** The operation that creates an automation from a recipe. */
import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import Type from 'typebox';
import { addField, storeField } from '../../audience/fields/operations.ts';
import { checkedTargets } from '../../audience/segments/segments.ts';
import type { Db } from '../../database/open.ts';
import { AUTOMATION_TYPE, automations } from '../../database/schema/index.ts';
import { inTransaction } from '../../database/transaction.ts';
import { editTemplate } from '../../delivery/compiling/compile.ts';
import { withinShare } from '../../http/account-share.ts';
import { choice, described, integer, line } from '../../http/requests/schemas.ts';
import { LANGUAGE_CODES } from '../../languages.ts';
import { requireScope } from '../../operations/callers.ts';
import { type Context, operation } from '../../operations/operation.ts';
import { designerBrand } from '../../templates/brand/brand.ts';
import { BLANK_TEMPLATE } from '../../templates/mail-content.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { insertSchedule, requireAutomation } from '../automations.ts';
import { RECIPE_BY_NAME, RECIPES, type RecipeName, type RecipeWait, recipeMjml } from '../recipes.ts';
import { insertDraft } from '../status.ts';
import { checkAutomation, TARGET } from './automations.ts';
import { checkMail, newStep } from './mails.ts';
import { findDate, NO_MAIL, storedSettings } from './step-kinds.ts';
import { triggerColumns } from './triggers.ts';

export const createFromRecipe = operation({
  name: 'Create an automation from a recipe, with its e-mails (addition)',
  description:
    'The automation is a draft, in which everything can be changed. In the recipes birthday and renewal, contacts enter on a date in the custom field of that name. If the account has no such field, it is added; then a key pair also needs the scope contacts. In the recipe cart, contacts enter by the event cart, and in review by the event purchase.',
  role: 'editor',
  input: Type.Object({
    recipe: described(choice(...RECIPES), 'What the automation is for.'),
    language: { ...choice(...LANGUAGE_CODES), description: 'The language of the e-mails.' },
    automation_name: line({ minLength: 1 }),
    automation_for: line({ minLength: 1, description: TARGET }),
    unsubscribe_group_id: integer({ description: '0: not chosen yet.' }),
    sender_id: integer({ description: 'The id of the sender of the e-mails.' }),
  }),
  output: Type.Object({ utr: Type.String() }),
  check(context, input, errors) {
    checkAutomation(context, input, errors);
    checkMail(context, input, errors);
    const field = input.recipe === undefined ? null : missingField(context, input.recipe);
    return field === null ? undefined : addField.check?.(context, field, errors);
  },
  async run(context, { recipe, language, automation_for, ...fields }) {
    const { db, clock, accountId, actor, publicUrl, wake } = context;
    if (context.scopes !== null && missingField(context, recipe) !== null)
      requireScope({ ...addField, scope: 'contacts' }, context.scopes);
    const { trigger, field, exit_criteria, steps } = RECIPE_BY_NAME[recipe];
    const brand = designerBrand(db, accountId, publicUrl());
    const mail = { sender_id: fields.sender_id, template_id: BLANK_TEMPLATE, preview_img: '', template_html: '' };
    const designedSteps = await withinShare(accountId, () =>
      Promise.all(
        steps.map(async (step) => {
          if (step.kind !== 'mail') return step;
          const { kind, texts, waiting_type, waiting_period } = step;
          const { subject, preheader } = texts[language];
          const template_json = await editTemplate(accountId, recipeMjml(language, texts[language], brand), '');
          return { ...mail, kind, subject, preheader, waiting_type, waiting_period, template_json };
        }),
      ),
    );
    const [target] = checkedTargets([automation_for]);
    const now = isoTimestamp(clock.now());
    const utr = randomUUID();
    const create = () => {
      const automation_id = insertDraft(db, {
        user_id: accountId,
        changed_by: actor.userId,
        created_at: now,
        updated_at: now,
        utr,
        automation_name: fields.automation_name,
        automation_for: Number(target?.id ?? 0),
        automation_for_table: target?.table ?? '',
        unsubscribe_group_id: String(fields.unsubscribe_group_id),
        automation_type: AUTOMATION_TYPE[recipe === 'welcome' ? 'welcome' : 'custom'],
        exit_criteria,
      });
      const draft = requireAutomation(db, accountId, utr);
      const columns = triggerColumns(
        db,
        draft,
        { ...trigger, trigger_field: field?.field_name ?? '' },
        Date.parse(now),
      );
      db.update(automations).set(columns).where(eq(automations.id, automation_id)).run();
      for (const step of designedSteps) {
        const stepRecord = newStep(context, automation_id);
        if (step.kind === 'mail') insertSchedule(db, { ...stepRecord, ...step });
        else insertWait(db, stepRecord, step);
      }
    };
    const missing = missingField(context, recipe);
    if (missing === null) inTransaction(db, create);
    else await storeField(context, missing, create);
    wake();
    return { utr };
  },
});

/** Returns the custom field that a recipe needs and the account does not have; null if no field is missing. */
function missingField({ db, accountId }: Context, recipe: RecipeName): (typeof RECIPE_BY_NAME)[RecipeName]['field'] {
  const { field } = RECIPE_BY_NAME[recipe];
  return field === null || findDate(db, accountId, field.field_name) !== undefined ? null : field;
}

/** The columns that all new steps have in common. */
type StepRecord = ReturnType<typeof newStep>;

/** Stores a wait for an event, and an exit for contacts for whom the event comes, who take the path `yes`. */
function insertWait(db: Db, record: StepRecord, wait: RecipeWait): void {
  const atOnce = { ...NO_MAIL, ...record, waiting_type: 'instantly', waiting_period: 1 } as const;
  const settings = storedSettings(db, record.user_id, wait.kind, { ...wait, until: 'event' });
  const { id } = insertSchedule(db, { ...atOnce, kind: wait.kind, ...settings });
  insertSchedule(db, { ...atOnce, utr: randomUUID(), kind: 'exit', parent_id: id, branch: 'yes' });
}
