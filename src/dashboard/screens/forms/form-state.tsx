/** Whether a form takes subscriptions, in a word. */
import { Badge } from '../../components/surface.tsx';
import { useLanguage } from '../../words/index.ts';
import type { Form } from './records.ts';

export function FormState({ form: { off_code: code } }: { form: Pick<Form, 'off_code'> }) {
  const language = useLanguage();
  if (code === null) return <Badge tone="good">{language.say('forms.state.on')}</Badge>;
  if (code === 'off') return <Badge>{language.say('forms.state.off')}</Badge>;
  return <Badge tone="warn">{language.say('forms.state.broken')}</Badge>;
}
