/** The sentences about the findings of a check, in the language of the user. */
import type { FoundCheck } from '../../delivery/checks/severity.ts';
import { isVariantName } from '../../delivery/queue/variant-groups.ts';
import type { Language } from '../../ui/words/index.ts';
import { fieldLabel, languageNamer } from '../../ui/words/known.ts';

interface Finding {
  check: FoundCheck | 'language_missing';
  /** 1 if the mail passes the check. */
  is_good: 0 | 1;
  /** The number of such findings; for sizes, the number of bytes. */
  count: number;
  /** The number that should not be exceeded; 0 if there is no such limit. */
  limit: number;
  /** The names of the first findings, if they have names. */
  names: readonly string[];
}

/** Returns the sentence about a finding, with its numbers and names. */
export function findingText({ check, is_good, count, limit, names: all }: Finding, language: Language): string {
  const state = is_good ? 'good' : 'bad';
  const names = all.join(', ');
  switch (check) {
    case 'language_missing':
      return language.say('compose.check.all.language_missing', {
        count,
        name: all.map(languageNamer(language)).join(),
      });
    case 'size':
      return language.say('outbox.check.size', { size: language.bytes(count), limit: language.bytes(limit) });
    case 'attachments':
      return language.say(`compose.check.attachments.${state}`, {
        size: language.bytes(count),
        limit: language.bytes(limit),
      });
    case 'addressLacks':
      return language.say('compose.check.addressLacks', { names: missingPartNames(all, language) });
    case 'leave':
    case 'address':
    case 'urls':
    case 'unknown':
    case 'foreign':
    case 'sample':
      return language.fill(`compose.check.${check}.${state}`, { count, names });
    case 'values':
      return language.fill(`compose.check.values.${state}`, {
        count,
        names: all.map((name) => fieldLabel(language, name)).join(', '),
      });
    default:
      return language.fill(`outbox.check.${check}.${state}`, { count, names });
  }
}

/** Returns the names of the missing parts of a postal address. */
function missingPartNames(parts: readonly string[], language: Language): string {
  const named = (['zip_code', 'city_id', 'country_id'] as const).filter((part) => parts.includes(part));
  return named.map((part) => language.say(`senders.field.${part}`)).join(', ');
}

/** Returns the name of a variant, such as B, or the name of the language of a version. */
export function versionName(version: string, language: Language): string {
  return isVariantName(version)
    ? language.say('compose.variants.one', { name: version })
    : languageNamer(language)(version);
}
