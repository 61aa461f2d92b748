/** The findings of the checks of a mail: in the mail and its variants or versions, and in the mails of all its recipients. */
import { isFoundCheck } from '../../delivery/checks/severity.ts';
import { Badge } from '../../ui/components/surface.tsx';
import { useLanguage } from '../../ui/words/index.ts';
import { languageNamer } from '../../ui/words/known.ts';
import type { CheckedForAll } from '../operations/check.ts';
import type { Report } from '../operations/reports.ts';
import { findingText, versionName } from './finding-text.ts';

/** The findings in a mail, with the name of the variant or version that has them. */
export function Findings({ findings }: { findings: NonNullable<Report['findings']> }) {
  const language = useLanguage();
  return (
    <ul class="checks">
      {findings.map(
        ({ code, severity, version, ...finding }) =>
          (isFoundCheck(code) || code === 'language_missing') && (
            <li key={`${code} ${version} ${finding.names}`}>
              <Badge tone={severity === 'error' ? 'bad' : 'warn'}>{language.say('outbox.check.look')}</Badge>
              <span>
                {version !== '' && <b>{versionName(version, language)}: </b>}
                {findingText({ check: code, is_good: 0, ...finding }, language)}
              </span>
            </li>
          ),
      )}
    </ul>
  );
}

/** The number of recipients whose mails were checked, and the findings in their mails. `checked` is null if there are no recipients. */
export function AudienceFindings({ checked }: { checked: CheckedForAll['recipients'] }) {
  const language = useLanguage();
  if (checked === null || checked.checked === 0) return <p>{language.say('compose.check.all.none')}</p>;
  return (
    <>
      <p>
        {language.say(checked.has_more === 1 ? 'compose.check.all.first' : 'compose.check.all.done', {
          count: checked.checked,
        })}{' '}
        {checked.findings.length === 0 && language.say('compose.check.all.good')}
      </p>
      <ul class="checks">
        {checked.findings.map(({ code, name, count, contact_id }) => (
          <li key={`${code} ${name}`}>
            <Badge tone="warn">{language.say('outbox.check.look')}</Badge>
            <div>
              {language.say(`compose.check.all.${code}`, {
                name: code === 'language_missing' ? languageNamer(language)(name) : name,
                count,
              })}{' '}
              {contact_id !== null && (
                <a href={`/contacts/${contact_id}`}>{language.say('compose.check.all.example')}</a>
              )}
            </div>
          </li>
        ))}
      </ul>
      {checked.more_findings > 0 && <p>{language.say('compose.check.all.more', { count: checked.more_findings })}</p>}
    </>
  );
}
