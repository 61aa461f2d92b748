/** What the API says about the A/B test of a single send that is composed, and what the form about it has. */

import type { ApiClient } from '../../../dashboard/api-client.ts';
import type { AbTest } from '../../../database/schema/index.ts';
import type { Plan as AbTestPlan } from '../../operations/variants.ts';

/** Both null: everybody gets the same mail. */
export interface StoredTest {
  ab_test: AbTest | null;
  plan: AbTestPlan | null;
}

/** Besides A: B, C and D. */
export const MOST_VARIANTS = 3;
/** What a variant may have of its own. */
export const OWN_FIELDS = ['subject', 'preheader', 'sender_name', 'template_id'] as const;

/** A test as a form has it: all of it is text, and an empty one means as in A. */
export interface GivenTest {
  variants: Record<(typeof OWN_FIELDS)[number], string>[];
  share: string;
  winner_by: string;
  hours: string;
}

export function readTest(api: ApiClient, utr: string): Promise<StoredTest> {
  return api.get<StoredTest>('/single-send/variants', { utr });
}
