/** What the service says about A/B tests, in German. */
import type { AB_TEST_SENTENCES } from '../../../sentences/ab-tests.ts';

export const abTestSentences: Readonly<Record<keyof typeof AB_TEST_SENTENCES, string>> = {
  ab_canary: 'Eine Mail, die mit einem ersten Teil der Empfänger beginnt, lässt sich nicht auch noch testen.',
  ab_untracked: 'Öffnungen und Klicks dieser Mail werden nicht gezählt, daher lässt sich danach kein Gewinner finden.',
  ab_same: 'Zwei Varianten sind dieselbe Mail.',
  ab_variant_problem: 'Variante {name}: {problem}',
  ab_not_open: 'Es gibt keinen Test dieser Mail, der auf eine Entscheidung wartet.',
};
