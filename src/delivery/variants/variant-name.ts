/** The letter that stands for a variant of an A/B test, by its number: A is the mail itself. */
export function variantName(variant: number): string {
  return String.fromCharCode('A'.charCodeAt(0) + variant);
}
