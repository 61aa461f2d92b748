/** One finding of the doctor. */
export interface Check {
  name: string;
  /** `warn`: mail leaves, but something is weak; `fail`: mail or the service is in danger. */
  state: 'ok' | 'warn' | 'fail';
  found: string;
  /** What to do, in lines. */
  advice?: string[];
}

export type Finding = Omit<Check, 'name'>;
