/** The field for a new password, and what can be wrong with one. */
import { passwordFault } from '../../users/password-rules.ts';
import { type Problems, TextField } from '../components/field.tsx';
import { type Language, useLanguage } from '../words/index.ts';

/** The form field `password`, in which somebody chooses one. */
export function NewPasswordField({ problems }: { problems: Problems | undefined }) {
  const language = useLanguage();
  return (
    <TextField
      name="password"
      type="password"
      label={language.say('welcome.password')}
      hint={language.say('password.hint')}
      autocomplete="new-password"
      minLength={12}
      required
      problems={problems}
    />
  );
}

/** What is wrong with a new password, as the problems of the field `password`; none when it is fine. */
export function passwordProblem(language: Language, password: string, person: readonly string[]): Problems {
  const fault = passwordFault(password, person);
  return fault === null ? {} : { password: [language.say(`password.${fault}`)] };
}
