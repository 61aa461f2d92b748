/** What the service says about A/B tests. */
export const AB_TEST_SENTENCES = {
  ab_canary: 'A mail that begins with a first part of its recipients cannot be tested as well.',
  ab_untracked: 'Opens and clicks of this mail are not counted, so no winner can be found by them.',
  ab_same: 'Two variants are the same mail.',
  ab_variant_problem: 'Variant {name}: {problem}',
  ab_not_open: 'There is no test of this mail that waits for a decision.',
} as const;
