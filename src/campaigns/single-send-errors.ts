/** Validates single sends: finds what the schema of a request cannot find, and changes that make an A/B test impossible. */

import { hasTargets } from '../audience/segments/segments.ts';
import { isOwned } from '../database/ownership.ts';
import { senders, unsubscribeGroups } from '../database/schema/index.ts';
import { templateProblem } from '../delivery/compiling/compile.ts';
import { htmlConditionProblem } from '../delivery/content/html-regions.ts';
import { conditionProblem, placeholderProblem } from '../delivery/content/placeholders.ts';
import { findAbTestProblem } from '../delivery/variants/test-problem.ts';
import { invalid } from '../errors/failure.ts';
import { messages } from '../errors/field-errors.ts';
import { type Said, sentence } from '../errors/sentences.ts';
import { hasTemplate } from '../templates/mail-content.ts';
import { toUtc } from '../time/zones.ts';
import { parseScheduleDate, parseScheduleTime } from './schedule.ts';
import type { SingleSend, SingleSendDeps, SingleSendInput } from './single-sends.ts';

/** Returns the field errors that the schema cannot find: references to missing records, faulty template code, and impossible schedules. */
export function singleSendErrors(
  deps: SingleSendDeps,
  accountId: number,
  input: Partial<SingleSendInput>,
): [string, Said][] {
  const { db } = deps;
  const errors: [string, Said][] = [];
  const reference = (field: keyof SingleSendInput, exists: boolean) => {
    if (!exists) errors.push([field, messages.gone(field)]);
  };
  const { template_id, sender_id, unsubscribe_group_id, recipient_id, exclude_specific_recipient_id } = input;
  if (template_id !== undefined) reference('template_id', hasTemplate(db, accountId, template_id));
  if (sender_id !== undefined) reference('sender_id', isOwned(db, senders, sender_id, accountId));
  if (unsubscribe_group_id !== undefined)
    reference('unsubscribe_group_id', isOwned(db, unsubscribeGroups, unsubscribe_group_id, accountId));
  if (recipient_id !== undefined) reference('recipient_id', hasTargets(db, accountId, recipient_id));
  if (exclude_specific_recipient_id !== undefined) {
    reference('exclude_specific_recipient_id', hasTargets(db, accountId, exclude_specific_recipient_id));
  }
  return [...errors, ...templateErrors(input), ...scheduleErrors(deps, input)];
}

/**
 * Returns the field errors of template code, which must be either MJML as JSON or HTML, and of the conditions in the code, the subject, the
 * preheader and the plain text.
 */
export function templateErrors(input: {
  template_json?: string;
  template_html?: string;
  subject?: string;
  preheader?: string;
  text?: string;
}): [string, Said][] {
  const { template_json, template_html, subject = '', preheader = '', text = '' } = input;
  if (template_json && template_html) return [['template_html', sentence('content_twice')]];
  const inJson = template_json ? (templateProblem(template_json) ?? placeholderProblem(template_json)) : null;
  const inHtml = template_html ? (placeholderProblem(template_html) ?? htmlConditionProblem(template_html)) : null;
  const problems = [
    ['subject', 'subject', conditionProblem(subject)],
    ['preheader', 'preheader', conditionProblem(preheader)],
    ['text', 'text', conditionProblem(text)],
    ['template_json', 'template json', inJson],
    ['template_html', 'template html', inHtml],
  ] as const;
  return problems.flatMap(([field, name, problem]) =>
    problem === null ? [] : [[field, sentence('content_invalid', { field: name, problem })] satisfies [string, Said]],
  );
}

/** Throws 422 at this field if one of several subjects or preview texts has a faulty condition. */
export function requireConditions(field: string, lines: readonly string[]): void {
  const problem = lines.map((line) => conditionProblem(line)).find((text) => text !== null);
  if (problem !== undefined) throw invalid(field, problem);
}

/** Returns the field errors of a schedule: a missing or invalid date or time, or a moment in the past. */
function scheduleErrors({ clock, config }: SingleSendDeps, input: Partial<SingleSendInput>): [string, Said][] {
  if (input.schedule_type !== 1) return input.local_time === 1 ? [['local_time', sentence('local_time_schedule')]] : [];
  const errors: [string, Said][] = [];
  const date = parseScheduleDate(input.schedule_date ?? '');
  const time = parseScheduleTime(input.schedule_time ?? '');
  if (!input.schedule_date) errors.push(['schedule_date', messages.required('schedule_date')]);
  else if (date === null) errors.push(['schedule_date', sentence('schedule_date_wrong')]);
  if (!input.schedule_time) errors.push(['schedule_time', messages.required('schedule_time')]);
  else if (time === null) errors.push(['schedule_time', sentence('schedule_time_wrong')]);
  if (date !== null && time !== null && toUtc(date, time, config.TIME_ZONE) <= clock.now()) {
    errors.push(['schedule_date', sentence('schedule_past')]);
  }
  return errors;
}

/** For each problem of an A/B test, the field of the change that causes it. */
const FIELD_OF_PROBLEM = {
  ab_canary: 'canary_percent',
  local_time_ab: 'local_time',
  best_hour_ab: 'best_hour',
  ab_languages: 'subject',
  ab_untracked: 'tracking',
} as const;

/**
 * Throws 422 if a change makes the A/B test of a single send impossible, because the single send would be held at its launch. Does
 * nothing if the test was impossible before, for example because the account has changed its tracking.
 */
export function requireStillTestable(
  { db, config }: Pick<SingleSendDeps, 'db' | 'config'>,
  before: SingleSend,
  change: Partial<Pick<SingleSend, 'tracking' | 'canary_percent'>>,
): void {
  const problem = findAbTestProblem(db, config, { ...before, ...change });
  if (problem !== null && findAbTestProblem(db, config, before) === null)
    throw invalid(FIELD_OF_PROBLEM[problem], sentence(problem));
}
