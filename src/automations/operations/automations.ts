/** Automations. Their mails are in schedules.ts; changes while people wait in one are in changes.ts. */
import { randomUUID } from 'node:crypto';
import { and, eq, sql } from 'drizzle-orm';
import Type from 'typebox';
import { checkedTargets, hasTargets } from '../../audience/segments/targets.ts';
import { isoTimestamp } from '../../clock.ts';
import { isOwned, ownedBy, recordUtr } from '../../database/ownership.ts';
import { readRecord, recordObject } from '../../database/record-json.ts';
import { automations, unsubscribeGroups } from '../../database/schema/index.ts';
import {
  choice,
  eitherOrderQuery,
  flag,
  identifier,
  identifiers,
  integer,
  line,
  nullable,
  softStamps,
} from '../../http/requests/schemas.ts';
import type { FieldErrorCollector } from '../../http/requests/validation.ts';
import { type Context, listOperation, operation, recordOperation } from '../../operations/operation.ts';
import * as stored from '../automations.ts';
import { insertDraft } from '../status.ts';

const Automation = Type.Object({
  id: integer(),
  user_id: integer(),
  automation_for: integer(),
  automation_for_table: Type.String(),
  automation_name: Type.String(),
  exit_criteria: integer(),
  unsubscribe_group_id: Type.String(),
  automation_type: integer(),
  utr: Type.String(),
  status: integer(),
  live_at: nullable(Type.String()),
  total_triggered: integer(),
  total_delivered: integer(),
  total_unique_opens: integer(),
  total_opens: integer(),
  total_bounces: integer(),
  total_unsubscribe: integer(),
  ...softStamps,
});
const ListedAutomation = Type.Object({ ...Automation.properties, automation_schedule_count: integer() });

/** Which automation is meant. */
export const ByUtr = Type.Object({ utr: identifier('The automation.') });

const total = (counter: string) =>
  sql`(SELECT ifnull(sum(${sql.raw(counter)}), 0) FROM mailings WHERE automation_id = ${automations.id})`;
const computed = {
  total_triggered: total('triggered'),
  total_delivered: total('delivered'),
  total_unique_opens: total('unique_opens'),
  total_opens: total('total_opens'),
  total_bounces: total('bounces'),
  total_unsubscribe: total('unsubscribes'),
  automation_schedule_count: sql`(SELECT count(*) FROM automation_schedules WHERE automation_id = ${automations.id})`,
};
const from = sql`${automations}`;

export const listAutomations = listOperation({
  name: 'List the automations',
  role: 'viewer',
  input: eitherOrderQuery,
  as: 'automations',
  record: ListedAutomation,
  select: ({ accountId }, part) => ({
    record: recordObject(ListedAutomation, automations, computed),
    from,
    where: ownedBy(automations, accountId),
    id: automations.id,
    part,
  }),
});

/** Adds the errors of the target and the group of an automation. */
export function checkAutomation(
  { db, accountId }: Context,
  { automation_for, unsubscribe_group_id: group }: { automation_for?: string; unsubscribe_group_id?: number },
  errors: FieldErrorCollector,
): void {
  if (automation_for) errors.reference('automation_for', () => hasTargets(db, accountId, [automation_for]));
  if (group) errors.reference('unsubscribe_group_id', () => isOwned(db, unsubscribeGroups, group, accountId));
}

export const createAutomation = operation({
  name: 'Create an automation',
  role: 'editor',
  input: Type.Object({
    type: choice('welcome', 'custom'),
    automation_for: Type.Optional(line({ description: 'contacts_<contact type id> or segments_<segment id>' })),
    automation_name: line(),
    unsubscribe_group_id: integer({ description: '0: not chosen yet.' }),
    exit_criteria: Type.Optional(
      Type.Unsafe<0 | 1>({
        ...flag('Addition. 0: a person finishes after the last mail, 1: also when they leave the target.'),
        empty: 0,
      }),
    ),
  }),
  output: Type.Object({ utr: Type.String() }),
  check: checkAutomation,
  run({ db, clock, accountId }, { type, automation_for, unsubscribe_group_id, exit_criteria = 0, automation_name }) {
    const [target] = checkedTargets(automation_for ? [automation_for] : []);
    const now = isoTimestamp(clock.now());
    const utr = randomUUID();
    insertDraft(db, {
      user_id: accountId,
      automation_for: Number(target?.id ?? 0),
      automation_for_table: target?.table ?? '',
      automation_name,
      exit_criteria,
      unsubscribe_group_id: String(unsubscribe_group_id),
      automation_type: type === 'welcome' ? 1 : 2,
      utr,
      created_at: now,
      updated_at: now,
    });
    return { utr };
  },
});

export const duplicateAutomation = operation({
  name: 'Duplicate an automation',
  role: 'editor',
  input: ByUtr,
  output: Type.Object({ utr: Type.String() }),
  run: (context, { utr }) => ({ utr: stored.duplicateAutomation(context, context.accountId, utr) }),
});

export const readAutomation = recordOperation({
  name: 'Read an automation',
  role: 'viewer',
  input: ByUtr,
  as: 'automation',
  record: Automation,
  json: ({ db, accountId }, { utr }) => {
    const where = and(ownedBy(automations, accountId), eq(automations.utr, recordUtr(utr)));
    return readRecord(db, recordObject(Automation, automations, computed), from, where);
  },
});

export const pauseAutomation = operation({
  name: 'Pause an automation',
  description: 'Everybody keeps their place; setting it live again goes on from there.',
  role: 'editor',
  input: ByUtr,
  run: (context, { utr }) => stored.pauseAutomation(context, context.accountId, utr),
});

export const setAutomationLive = operation({
  name: 'Set an automation live',
  description:
    'From then on everybody who joins its target enters. It needs a target, an unsubscribe group and at least one mail.',
  role: 'editor',
  input: ByUtr,
  run: (context, { utr }) => stored.setLive(context, context.accountId, utr),
});

export const deleteAutomation = operation({
  name: 'Delete an automation',
  role: 'editor',
  input: ByUtr,
  run: (context, { utr }) =>
    stored.deleteAutomations(context, [stored.requireAutomation(context.db, context.accountId, utr)]),
});

export const deleteAutomations = operation({
  name: 'Delete several automations',
  role: 'editor',
  input: Type.Object({ strIds: identifiers('Ids or utrs of automations.') }),
  run: (context, { strIds }) =>
    stored.deleteAutomations(context, stored.requireAutomations(context.db, context.accountId, strIds)),
});
