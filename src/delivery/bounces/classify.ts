/** What a refusal means for the address. */
export function classify({ code, enhanced }: { code: number; enhanced: string | null }): {
  kind: 'bounce' | 'failed' | 'deferred';
} {
  if (code < 500) return { kind: 'deferred' };
  return { kind: ['5.1.1', '5.1.2', '5.2.1'].includes(enhanced ?? '') ? 'bounce' : 'failed' };
}
