/** The field errors of an answer of the API, for a form. */
import type { ApiAnswer } from '../../api-client.ts';
import type { Problems } from '../../components/field.tsx';

/** What is wrong with the fields; where the API says something about the whole, it stands beside `otherwise`. */
export function problemsOf({ errors = {} }: ApiAnswer<unknown>, otherwise: string): Problems {
  return typeof errors === 'string' ? { [otherwise]: [errors] } : errors;
}
