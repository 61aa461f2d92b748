/** Shows a DNS record in the form that DNS providers ask for, with buttons that copy its parts. */
import { Island } from '../../ui/components/island.tsx';
import { useLanguage } from '../../ui/words/index.ts';
import type { TxtRecord } from '../operations/checks.ts';

/** A DNS record with buttons that copy its name and its value. */
export function RecordToCopy({ name, value }: TxtRecord) {
  const language = useLanguage();
  return (
    <dl class="record">
      <dt>{language.say('domains.record.type')}</dt>
      <dd>TXT</dd>
      <dt>{language.say('domains.record.name')}</dt>
      <dd>
        <CopyableText text={name} label={language.say('domains.copy.name')} />
      </dd>
      <dt>{language.say('domains.record.value')}</dt>
      <dd>
        <CopyableText text={value} label={language.say('domains.copy.value')} />
      </dd>
    </dl>
  );
}

/** A text next to which a script adds a copy button. */
function CopyableText({ text, label }: { text: string; label: string }) {
  return (
    <Island name="copy" data={{ label, done: useLanguage().say('domains.copied') }}>
      <code class="once">{text}</code>
    </Island>
  );
}
